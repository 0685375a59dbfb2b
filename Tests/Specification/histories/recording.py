"""What a recorded step expects of another implementation."""

OF_ANSWERS = ("outcome", "help", "new", "removed", "moved", "kept", "ignored", "unplaced", "disorder", "opened_gaps", "closed_gaps")
OF_FEEDS = ("picture", "why", "unverified", "joins", "checked", "assumed_end")


def expected(step, seen):
    names = OF_FEEDS + (("plan", "ticket") if step["op"] == "plan" else OF_ANSWERS)
    return {name: seen[name] for name in names if name in seen}
