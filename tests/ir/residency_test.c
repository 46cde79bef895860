/* The residency table: places and dtypes of the data that a step keeps, at each border. */
#include "residency.h"
#include "test.h"

static Policy policy_of_two(void) {
    return (Policy){.mesh = {1, {{AXIS_dp, 2}}}, .micro_batches = 2, .reshard = true};
}

static MemoryPlace place(const Policy *p, Resident what, Border border) {
    return residence_of(p, what, border, SCOPE_UNIT).place;
}

TEST(everything_is_on_the_device_by_default) {
    Policy p = policy_of_two();
    for (int s = 0; s < STRATEGY_KINDS; s++)
        for (int what = 0; what < RESIDENTS; what++)
            for (int border = 0; border < BORDERS; border++) {
                p.strategy = (Strategy)s;
                assert_int_equal(place(&p, (Resident)what, (Border)border), PLACE_DEVICE);
            }
}

/* One key each; the place is the same at all borders at which the thing is kept. */
TEST(each_key_moves_its_own) {
    for (int border = 0; border < BORDERS; border++) {
        Policy p = policy_of_two();
        bool kept = residence_of(&p, RESIDENT_GRADIENT, (Border)border, SCOPE_UNIT).kept;
        p.offload_params = PLACE_HOST;
        assert_int_equal(place(&p, RESIDENT_MASTER, (Border)border), PLACE_HOST);
        assert_int_equal(place(&p, RESIDENT_MOMENTS, (Border)border), PLACE_DEVICE);
        p.offload_states = PLACE_FILE;
        assert_int_equal(place(&p, RESIDENT_MOMENTS, (Border)border), PLACE_FILE);
        assert_int_equal(place(&p, RESIDENT_GRADIENT, (Border)border), PLACE_DEVICE);
        p.offload_grads = PLACE_HOST;
        assert_int_equal(place(&p, RESIDENT_GRADIENT, (Border)border),
                         kept ? PLACE_HOST : PLACE_DEVICE);
        assert_int_equal(place(&p, RESIDENT_GATHERED, (Border)border), PLACE_DEVICE);
    }
}

/* A collective wants it there; the update does not. */
TEST(what_is_to_be_summed_stays_on_the_device) {
    Policy p = policy_of_two();
    p.offload_grads = PLACE_HOST;
    p.accumulate_local = true;
    assert_int_equal(place(&p, RESIDENT_GRADIENT, BORDER_BETWEEN), PLACE_DEVICE);
    assert_int_equal(place(&p, RESIDENT_GRADIENT, BORDER_UPDATE), PLACE_HOST);
    State s = {.role = STATE_GRADIENT, .partial = 1};
    assert_int_equal(state_place(&p, &s), PLACE_DEVICE);
    s.partial = 0;
    assert_int_equal(state_place(&p, &s), PLACE_HOST);
}

TEST(the_host_writes_to_the_device) {
    Policy p = policy_of_two();
    p.offload_states = p.offload_params = p.offload_grads = PLACE_HOST;
    static const StateRole own[] = {STATE_STEP,   STATE_STAGING, STATE_SCALE,
                                    STATE_METRIC, STATE_FACTORS, STATE_GATHERED};
    for (size_t k = 0; k < ARRAY_LEN(own); k++)
        assert_int_equal(state_place(&p, &(State){.role = own[k]}), PLACE_DEVICE);
}

TEST(dtypes_are_those_of_the_group) {
    Group g = {.master_dtype = DT_F32,
               .compute_dtype = DT_BF16,
               .reduce_dtype = DT_F16,
               .wire_dtype = DT_F8E4M3};
    assert_int_equal(resident_dtype(RESIDENT_MASTER, &g), DT_F32);
    assert_int_equal(resident_dtype(RESIDENT_MOMENTS, &g), DT_F32);
    assert_int_equal(resident_dtype(RESIDENT_GATHERED, &g), DT_F8E4M3);
    assert_int_equal(resident_dtype(RESIDENT_GRADIENT, &g), DT_F16);
}

/* What a rank holds gathered holds its shard: the master is kept twice in host memory alone. */
TEST(a_master_is_kept_once) {
    static const Strategy once[] = {STRATEGY_GRADS, STRATEGY_STATES};
    for (size_t k = 0; k < ARRAY_LEN(once); k++) {
        Policy p = policy_of_two();
        p.strategy = once[k];
        for (int border = 0; border < BORDERS; border++) {
            Residence r = residence_of(&p, RESIDENT_MASTER, (Border)border, SCOPE_UNIT);
            assert_int_equal(r.kept, border != BORDER_FORWARD);
            r = residence_of(&p, RESIDENT_MASTER, (Border)border, SCOPE_REPLICATED);
            assert_true(r.kept);
        }
        p.offload_params = PLACE_HOST;
        assert_true(residence_of(&p, RESIDENT_MASTER, BORDER_FORWARD, SCOPE_UNIT).kept);
    }
}

RUN_TESTS(NULL, NULL)
