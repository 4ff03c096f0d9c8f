"""Report of a study: its page, the comparison of two studies, and the folder to publish (`sharing`).

The page shows the results, their uncertainty, and the reasons for missing values. It renders tables and conclusions:
a rule that decides something belongs in `tables`.
"""
