# Calibration: what needs no clock. The verb itself is run by tests/unit/test_calibrate.py.
ridge_test(unit calibration LAYER execute)
