"""Names of kinds of vectors and of measurements, in figures and texts."""

# Headings of the kinds of vectors, for a panel and for a column of panels. Static models have the sums of word and
# context vectors (Levy, Goldberg, Dagan 2015, section 3.3), and the word vectors alone, as in published models.
# Models of sentences have the last layer, the input embeddings, and words in sentences.
PANELS = {
    "word+context": "word + context",
    "word": "word alone",
    "contextual": "contextual",
    "input": "input",
    "sentences": "sentences",
}
VECTORS = PANELS | {
    "word": "word vectors alone",
    "contextual": "contextual vectors",
    "input": "input embeddings",
    "sentences": "vectors in sentences",
    "behaviour": "what it does",
}
# What a model does, which is measured like a metric.
ACT_LABELS = {"unmasking": "Unmasking bias", "errors": "Downstream errors"}
