# Tests of src/simulate/requests.
ridge_test(unit speed_table LAYER simulate)
