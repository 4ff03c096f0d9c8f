"""Models and corpora from npm packages, and the format of wink-embeddings-sg-*."""
