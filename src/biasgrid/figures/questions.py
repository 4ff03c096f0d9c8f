"""The questions that figures answer: the gallery shows together what answers one."""

RANKS = "Which model is the least biased, and how sure is that?"
AGREEMENT = "Do the metrics agree, and do models order the queries alike?"
SCORES = "What is each score evidence for, and what does it hang on?"
COMPANY = "What do scores go with?"
WORDS = "Which words, and which answers?"
DEBIASING = "What does debiasing do?"
PRINT = "Is it what was published?"
