"""What files of data/acceptance hold: see check_data.py."""

ACCEPTANCE = {"name", "full_name", "kind", "target", "draft", "task", "temperature", "accept",
              "next", "tokens", "depth", "nodes", "is_default", "source", "date", "note"}


def check_acceptance(check, path, item):
    """Each position's chance; one default a kind is seen to by the tests of its reader."""
    check.only(path, "", item, ACCEPTANCE)
    check.origin(path, "source", item)
    check.facts += 1
    if item.get("kind") not in {"model", "medusa", "eagle", "mtp", "ngram"}:
        check.fail(path, "kind", "expected model, medusa, eagle, mtp or ngram")
    if "accept" not in item and not {"tokens", "depth"} <= set(item):
        check.fail(path, "accept", "neither accept nor tokens with depth")
    for chance in item.get("accept", []):
        if not 0 <= chance <= 1:
            check.fail(path, "accept", "a chance beyond 0 to 1")
