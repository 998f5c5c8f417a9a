"""The facts of data/devices, for check_data.py: PCI ids of known chips, rates of links and of NICs."""
import re


def check_device_ids(check, path, key, item, seen):
    for pci_id in item.get("ids", []):
        if not re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", pci_id):
            check.fail(path, key, f"{pci_id} is no PCI id")
        if pci_id in seen:
            check.fail(path, key, f"{pci_id} stands twice")
        seen.add(pci_id)


def check_devices(check, path, item, chips, seen):
    check.only(path, "", item, {"name", "gpus", "links", "nics"})
    gpus = item.get("gpus", {})
    if gpus:
        check.only(path, "gpus", gpus, {"source", "date", "chips"})
        if gpus.get("source") not in check.sources:
            check.fail(path, "gpus.source", "no key of docs/sources.md")
    named = [row.get("chip") for row in gpus.get("chips", [])]
    named += [chip for row in item.get("links", []) for chip in row.get("chips", [])]
    for chip in named:
        if chip not in chips:
            check.fail(path, "chip", f"no chip is called {chip}")
    for row in gpus.get("chips", []):
        check.only(path, "gpus.chips", row, {"chip", "ids"})
        check_device_ids(check, path, "gpus.chips", row, seen)
    for row in item.get("links", []):
        check.only(path, "links", row, {"chips", "bytes_per_s"})
        check.fact(path, "links.bytes_per_s", row.get("bytes_per_s"), (1e9, 1e12))
    for row in item.get("nics", []):
        check.only(path, "nics", row, {"full_name", "ids", "bytes_per_s"})
        check_device_ids(check, path, "nics", row, seen)
        check.fact(path, "nics.bytes_per_s", row.get("bytes_per_s"), (1e9, 1e12))
