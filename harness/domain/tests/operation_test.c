/* The table of operations: LayerNorm's roles agree with the plugin ABI, and the sizes of tensors follow from them. */
#include "domain/operation.h"
#include "test.h"

static const ln_convention torch = {
    .eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};

TEST(layernorm_has_the_tensors_and_strides_of_the_abi)
{
    const operation *what = operations[LN_OPERATION_LAYERNORM];
    char room[LAYERNORM_ROLES];
    ln_tensors tensors = {0};
    ln_problem given = {0};
    assert_int_equal(what->count, sizeof tensors / sizeof(void *));
    for (size_t i = 0; i < what->count; i++) {
        role_set(i, &tensors, &room[i]);
        assert_ptr_equal(role_get(i, &tensors), &room[i]);
        if (what->roles[i].shape == SHAPE_TABLE)
            *role_stride(&what->roles[i], &given) = 100 + i;
    }
    const ln_tensors wanted = {&room[0], &room[1], &room[2], &room[3],
                               &room[4], &room[5], &room[6], &room[7]};
    assert_memory_equal(&tensors, &wanted, sizeof tensors);
    assert_int_equal(given.x_stride, 100 + ROLE_X);
    assert_int_equal(given.residual_stride, 100 + ROLE_RESIDUAL);
    assert_int_equal(given.y_stride, 100 + ROLE_Y);
    assert_int_equal(given.sum_stride, 100 + ROLE_SUM);
}

TEST(a_convention_says_which_parameters_there_are_and_how_long)
{
    static const struct {
        ln_affine affine;
        bool gamma, beta;
        size_t bytes;
    } forms[] = {{LN_AFFINE_NONE, false, false, 14},
                 {LN_AFFINE_SCALAR, true, true, 2},
                 {LN_AFFINE_GAMMA, true, false, 14},
                 {LN_AFFINE_VECTOR, true, true, 14},
                 {LN_AFFINE_GAMMA1, true, true, 14}};
    const tensor_role *roles = operations[LN_OPERATION_LAYERNORM]->roles;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const ln_convention convention = {.affine = forms[i].affine};
        ln_problem given = problem_dense(&convention, LN_F32, LN_BF16, 5, 7);
        role_extent extent = role_extent_of(&roles[ROLE_GAMMA], &given, LN_F64);
        assert_int_equal(role_is_needed(&roles[ROLE_GAMMA], &convention), forms[i].gamma);
        assert_int_equal(role_is_needed(&roles[ROLE_BETA], &convention), forms[i].beta);
        assert_true(role_is_needed(&roles[ROLE_X], &convention));
        assert_int_equal(extent_bytes(&extent), forms[i].bytes);
    }
}

TEST(rows_lie_a_stride_apart_and_statistics_have_the_accumulator)
{
    const tensor_role *roles = operations[LN_OPERATION_LAYERNORM]->roles;
    ln_problem given = problem_dense(&torch, LN_F32, LN_F32, 5, 7);
    given.y_stride = 11;
    role_extent y = role_extent_of(&roles[ROLE_Y], &given, LN_F64);
    role_extent x = role_extent_of(&roles[ROLE_X], &given, LN_F64);
    role_extent mean = role_extent_of(&roles[ROLE_MEAN], &given, LN_F64);
    assert_int_equal(extent_bytes(&y), (4 * 11 + 7) * 4);
    assert_int_equal(extent_bytes(&x), 5 * 7 * 4);
    assert_int_equal(extent_bytes(&mean), 5 * 8);
    given.rows = 0;
    y = role_extent_of(&roles[ROLE_Y], &given, LN_F64);
    assert_int_equal(extent_bytes(&y), 0);
}

TEST(neighbours_differ_from_a_convention_in_one_field)
{
    ln_convention others[NEIGHBOURS_MOST];
    size_t count = convention_neighbours(&torch, others);
    assert_int_equal(count, 5); /* the divisor, two places of eps, no eps, gamma - 1 */
    for (size_t i = 0; i < count; i++) {
        bool eps = others[i].eps_place != torch.eps_place;
        assert_int_equal((others[i].ddof != 0) + eps + (others[i].affine != torch.affine), 1);
    }
}

TEST(bytes_are_those_of_the_tables_that_a_call_cannot_leave_out)
{
    assert_true(call_bytes(operations[LN_OPERATION_LAYERNORM], 5, 7, LN_F32) == 2 * 5 * 7 * 4);
}
