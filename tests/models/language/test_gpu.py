"""Networks on a GPU. What needs one is skipped where torch sees none; the rest feigns it."""

from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from architectures import ALL, made, saved  # noqa: E402

import biasgrid as bg  # noqa: E402
from biasgrid import BiasgridError, InputError  # noqa: E402
from biasgrid.models.language import batches  # noqa: E402
from biasgrid.models.language.batches import LENGTHS, Row, in_batches  # noqa: E402
from biasgrid.models.language.blocks import computed_beside  # noqa: E402
from biasgrid.models.language.opening import open_pretrained  # noqa: E402

NO_GPU = not torch.cuda.is_available()
CPU, GPU = torch.device("cpu"), SimpleNamespace(type="cuda")
NO_MEMORY = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.\nGPU 0 has")


@pytest.fixture
def feigned(monkeypatch):
    """Batches for a GPU are made on the processor."""
    batch = batches._batch

    def on_cpu(rows, most, filler, device, fast):
        return batch(rows, most, filler, CPU, fast)

    monkeypatch.setattr(batches, "_batch", on_cpu)


def rows_of(lengths):
    return [Row([7] * length, [0], [1]) for length in lengths]


def attended(device, lengths, fast=False):
    """The masks of the batches of rows of these lengths."""
    masks = []

    def compute(batch):
        masks.append(batch.attended.numpy())
        return batch.ids[:, :1].float()

    in_batches(compute, rows_of(lengths), pieces=64, filler=0, device=device, fast=fast)
    return masks


@pytest.mark.usefixtures("feigned")
def test_a_row_needs_a_mask_or_none_whatever_is_beside_it():
    lengths = [5, 8, 8, 7, 16, 9, 15, 16, 8]
    found = attended(GPU, lengths)
    # which attention a GPU computes hangs on whether any row of the batch is filled up
    assert {(mask.all(axis=1).all(), mask.all(axis=1).any()) for mask in found} == {
        (True, True),
        (False, False),
    }
    assert len(found) == 4
    assert len(attended(CPU, lengths)) == 2
    assert len(attended(GPU, lengths, fast=True)) == 1


@pytest.mark.usefixtures("feigned")
def test_batches_of_a_gpu_are_larger():
    (of_gpu,) = attended(GPU, [LENGTHS] * 20)
    assert of_gpu.shape == (64, LENGTHS)
    assert [mask.shape for mask in attended(CPU, [LENGTHS] * 20)] == [(8, LENGTHS)] * 3


@pytest.mark.usefixtures("feigned")
@pytest.mark.parametrize(
    ("error", "device", "says"),
    [
        (
            NO_MEMORY,
            GPU,
            "the GPU has not enough memory for a batch of texts of up to 9 pieces: free some, or",
        ),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), GPU, "the GPU has not enough memory"),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory"),
            CPU,
            "this machine has not enough memory",
        ),
        (MemoryError(), CPU, "this machine has not enough memory for a batch of texts of up to 9 pieces"),
    ],
)
def test_no_memory_for_a_batch_is_one_line(error, device, says):
    def compute(_batch):
        raise error

    with refused(says):
        in_batches(compute, rows_of([3, 9]), pieces=64, filler=0, device=device, fast=True)


def test_other_errors_of_a_network_are_not_hidden():
    def compute(_batch):
        raise RuntimeError("a kernel is not there")

    with pytest.raises(RuntimeError, match="a kernel is not there"):
        in_batches(compute, rows_of([3]), pieces=64, filler=0, device=CPU)


def test_no_memory_for_weights_is_one_line_that_names_the_model(tmp_path, monkeypatch):
    folder = saved(tmp_path, "BERT")

    def to(self, device):
        raise NO_MEMORY

    monkeypatch.setattr(transformers.PreTrainedModel, "to", to)
    with pytest.raises(BiasgridError) as raised:
        bg.language_model(folder).score(["he"])
    # not the temporary folder in which the model is
    assert str(raised.value) == "BERT: there is not enough memory on the GPU for its weights"


def test_a_gpu_that_is_not_there_is_said_before_weights_are_read(tmp_path, monkeypatch):
    folder = saved(tmp_path, "BERT")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(transformers.AutoModelForMaskedLM, "from_pretrained", None)
    with pytest.raises(InputError, match="device: torch sees no GPU here; allowed: auto, cpu"):
        open_pretrained(folder, device="cuda")


def test_random_weights_leave_the_generator_of_a_gpu(tmp_path, monkeypatch):
    def manual_seed(seed):
        raise AssertionError("it seeds those of all GPUs")

    monkeypatch.setattr(torch, "manual_seed", manual_seed)
    folder = saved(tmp_path, "BERT")
    one, other, third = (
        open_pretrained(folder, device="cpu", random_weights=seed).model.state_dict() for seed in (1, 1, 2)
    )
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not all(torch.equal(one[name], third[name]) for name in one)


def test_values_of_two_devices_say_both():
    of_cpu, of_gpu = ({"device": device, "dtype": "float32", "fast": False} for device in ("cpu", "cuda"))
    assert computed_beside({}, of_gpu) == of_gpu
    assert computed_beside(of_gpu, of_gpu) == of_gpu
    both = computed_beside(of_cpu, of_gpu)
    assert both == of_cpu | {"device": "cpu, cuda"}
    assert computed_beside(both, of_cpu) == computed_beside(of_gpu, both) == both


@pytest.mark.skipif(NO_GPU, reason="there is no GPU")
@pytest.mark.parametrize("name", ALL)
def test_a_score_of_a_gpu_is_near_that_of_the_processor_and_the_same_beside_others(tmp_path, name):
    folder, split = saved(tmp_path, name), made(name)[1]
    words = ["the", "nurse", "is", "here", "and", "he", "was", "there"]
    texts = [" ".join((words * 3)[start : start + count]) for start in range(4) for count in range(1, 13)]
    texts = [text for text in texts if len(split(text)["input_ids"]) < 36]
    model = bg.language_model(folder, device="cuda")
    found = model.score(texts)
    assert model.network.computed["device"] == "cuda"
    np.testing.assert_allclose(found, bg.language_model(folder, device="cpu").score(texts), rtol=5e-6)
    np.testing.assert_array_equal(bg.language_model(folder, device="cuda").score(texts[::-1])[::-1], found)
    again = bg.language_model(folder, device="cuda")
    np.testing.assert_array_equal([again.score([text])[0] for text in texts], found)
