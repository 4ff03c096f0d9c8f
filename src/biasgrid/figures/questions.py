"""The questions that figures answer: the gallery shows together what answers one."""

RANKS = "Which model is the least biased, and how certain is that?"
AGREEMENT = "Do the metrics agree, and do models order the queries alike?"
SCORES = "How certain is each score, and what does it depend on?"
COMPANY = "What are scores correlated with?"
WORDS = "Which words, and which answers?"
DEBIASING = "What does debiasing do?"
PRINT = "Are published numbers reproduced?"
