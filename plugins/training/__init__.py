"""Training of models on a corpus: word2vec, fastText, GloVe, PPMI and BERT; tables and figures of training runs."""
