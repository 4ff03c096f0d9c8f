"""What a study measures of a model, each as a file: cells, scores of sentences, frequencies of words."""
