# Tests of src/hardware. The fixture is a catalogue of its own; golden and
# unit.catalog read the built-in data as well.
set(hardware_fixture ${CMAKE_SOURCE_DIR}/tests/support/hardware_fixture.c)

ridge_test(unit chip LAYER hardware)
ridge_test(unit chip_read LAYER hardware)
ridge_test(unit grid LAYER hardware)
ridge_test(unit measured_read LAYER hardware SOURCES ${hardware_fixture})
ridge_test(unit system_read LAYER hardware SOURCES ${hardware_fixture})
ridge_test(unit catalog LAYER hardware SOURCES ${hardware_fixture})
ridge_test(unit price_choice LAYER hardware)
ridge_test(unit slice LAYER hardware SOURCES ${hardware_fixture})
ridge_test(unit placement LAYER hardware SOURCES ${hardware_fixture})
ridge_test(property placement_laws LAYER hardware SOURCES ${hardware_fixture})
ridge_fuzz(chip LAYER hardware)
ridge_fuzz(system LAYER hardware)
ridge_fuzz(slice LAYER hardware)
ridge_fuzz(site LAYER hardware)
ridge_test(golden published_hardware LAYER hardware)
