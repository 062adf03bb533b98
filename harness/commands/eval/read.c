/* The tensors of lnbench eval: files by role, in the types of the problem. */
#include "commands/eval/read.h"
#include "commands/fingerprint/read.h"
#include "inputs/inputs.h"
#include "base/text.h"

typedef struct eval_reading {
    const eval_files *files;
    const ln_convention *convention;
    eval_tensors *tensors;
    tensor_axes axes;
    bool u2_is_bf16;
    bool weight_has_type; /* gamma's file decides the type of parameters, where there is no beta */
    const char *whose;    /* type the rows have */
} eval_reading;

void eval_tensors_free(eval_tensors *tensors)
{
    arena_free(&tensors->memory);
}

static void read_file(const eval_reading *reading, const char *path, bool has_rows,
                      tensor_array *array)
{
    const tensor_request request = {
        .path = path, .u2_is_bf16 = reading->u2_is_bf16, .axes = has_rows ? &reading->axes : NULL};
    tensor_read(&reading->tensors->memory, &request, array);
}

/* A table of rows, in its file's type as yet. */
static void read_rows(const eval_reading *reading, const char *path, const char *option,
                      tensor_array *array)
{
    eval_tensors *tensors = reading->tensors;
    tensor_array *x = &tensors->arrays[ROLE_X];
    if (!path)
        return;
    read_file(reading, path, true, array);
    if (array != x) {
        tensor_same_shape(x, array, path, option);
        return;
    }
    tensor_has_rows(x, path);
    tensors->hidden = x->hidden;
    tensors->rows = x->elements / x->hidden;
}

/* Options are called as LayerNorm's tensors. */
static const char *option_of(size_t role)
{
    return operations[LN_OPERATION_LAYERNORM]->roles[role].name;
}

/* A parameter, or its gradient: there where the convention has it, nowhere else. */
static void read_parameter(const eval_reading *reading, const char *path, const char *option,
                           bool wanted, size_t length, bool is_gradient, tensor_array *array)
{
    const eval_tensors *tensors = reading->tensors;
    if (!wanted && path)
        die(EXIT_CODE_USAGE, "--%s %s: this convention has no %s", option, path, option);
    if (!wanted)
        return;
    if (!path)
        die(EXIT_CODE_USAGE, "--%s is missing: this convention needs %zu element%s of it", option,
            length, length == 1 ? "" : "s");
    read_file(reading, path, false, array);
    if (reading->weight_has_type && !is_gradient &&
        dtype_size(array->dtype) < dtype_size(tensors->param))
        reading->tensors->param = array->dtype;
    if (length > 1 && !is_gradient)
        tensor_broadcast(&reading->tensors->memory, &tensors->arrays[ROLE_X], array, path, option);
    if (array->elements != length)
        die(EXIT_CODE_USAGE, "%s (--%s): %zu elements; %zu were expected", path, option,
            array->elements, length);
    if (!is_gradient)
        tensor_is_finite(array, path, option);
    tensor_convert(&reading->tensors->memory, array, tensors->param, "the type of parameters here",
                   path, option);
}

/* Every table of the operation, then those of gradients. */
static void each_table(const eval_reading *reading,
                       void (*visit)(const eval_reading *, const char *, const char *,
                                     tensor_array *))
{
    const eval_files *files = reading->files;
    eval_tensors *tensors = reading->tensors;
    const operation *what = operations[reading->convention->operation];
    for (size_t i = 0; i < what->count; i++)
        if (files->paths[i] && !operation_has(what, i))
            die(EXIT_CODE_USAGE, "--%s %s: %s has no %s", option_of(i), files->paths[i],
                what->title, option_of(i));
        else if (!role_is_parameter(&what->roles[i]))
            visit(reading, files->paths[i], option_of(i), &tensors->arrays[i]);
    visit(reading, files->dy, "dy", &tensors->dy);
    visit(reading, files->gradients[GRADIENT_DX], "dx", &tensors->gradients[GRADIENT_DX]);
}

static void convert_rows(const eval_reading *reading, const char *path, const char *option,
                         tensor_array *array)
{
    if (path)
        tensor_convert(&reading->tensors->memory, array, reading->tensors->storage, reading->whose,
                       path, option);
}

static void choose_types(eval_reading *reading, const kernel_entry *kernel)
{
    const eval_files *files = reading->files;
    eval_tensors *tensors = reading->tensors;
    const tensor_array *made = files->paths[ROLE_Y]            ? &tensors->arrays[ROLE_Y]
                               : files->gradients[GRADIENT_DX] ? &tensors->gradients[GRADIENT_DX]
                               : files->input                  ? NULL
                                                               : &tensors->arrays[ROLE_X];
    if (kernel) {
        tensors->storage = kernel->facts.storage;
        tensors->param = kernel->facts.param;
        reading->whose = "the kernel's type";
        return;
    }
    tensors->storage = made ? made->dtype : LN_F32;
    reading->whose = files->paths[ROLE_Y]            ? "the type of y"
                     : files->gradients[GRADIENT_DX] ? "the type of dx"
                                                     : "the type of x";
    ln_type said;
    if (files->dtype && dtype_from_name(files->dtype, &said) &&
        (!made || made == &tensors->arrays[ROLE_X] || tensor_converts(made, said))) {
        tensors->storage = said;
        reading->whose = "as --dtypes says";
    }
    tensors->param = tensors->storage == LN_F64 ? LN_F64 : LN_F32;
    /* 1 + w may be rounded to the weight's type. */
    reading->weight_has_type = reading->convention->operation == LN_OPERATION_RMSNORM;
}

static void read_parameters(const eval_reading *reading)
{
    const eval_files *files = reading->files;
    const ln_convention *convention = reading->convention;
    eval_tensors *tensors = reading->tensors;
    const operation *what = operations[convention->operation];
    const bool has[GRADIENTS] = {[GRADIENT_DGAMMA] = ln_has_gamma(convention->affine),
                                 [GRADIENT_DBETA] = ln_has_beta(convention->affine)};
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        /* Gradients need gamma for dx alone, and nothing that is added. */
        bool left_out =
            files->dy && !files->paths[i] && !(i == ROLE_GAMMA && files->gradients[GRADIENT_DX]);
        if (role_is_parameter(role) && !left_out)
            read_parameter(reading, files->paths[i], option_of(i), role_is_needed(role, convention),
                           role_columns(role, convention, tensors->hidden), false,
                           &tensors->arrays[i]);
    }
    for (size_t i = GRADIENT_DGAMMA; i < GRADIENTS; i++)
        if (files->gradients[i])
            read_parameter(reading, files->gradients[i], gradient_name(i), has[i],
                           ln_parameter_elements(convention->affine, tensors->hidden), true,
                           &tensors->gradients[i]);
}

void eval_check_type(const eval_files *files)
{
    ln_type type;
    if (!(!files->dtype || dtype_from_name(files->dtype, &type)))
        die(EXIT_CODE_USAGE, "--dtypes %.60s: f32, f64, bf16 or f16 was expected", files->dtype);
}

void eval_read(const eval_files *files, const ln_convention *convention, const kernel_entry *kernel,
               eval_tensors *tensors)
{
    eval_reading reading = {.files = files, .convention = convention, .tensors = tensors};
    ln_type said = kernel ? kernel->facts.storage : LN_F32;
    if (files->dtype && dtype_from_name(files->dtype, &said) && kernel &&
        said != kernel->facts.storage)
        die(EXIT_CODE_USAGE, "--dtypes %s: kernel %s takes %s", files->dtype, kernel->facts.name,
            dtype_name(kernel->facts.storage));
    reading.u2_is_bf16 = said == LN_BF16;
    tensor_axes_parse(files->axis, &reading.axes);
    if (files->input) {
        choose_types(&reading, kernel);
        input_check(files->input);
        shape_parse(files->shape, &tensors->rows, &tensors->hidden);
        return;
    }
    each_table(&reading, read_rows);
    choose_types(&reading, kernel);
    each_table(&reading, convert_rows);
    read_parameters(&reading);
}

void eval_block(const eval_files *files, const ln_convention *convention,
                const eval_tensors *tensors, row_judge *judge, judge_block *block)
{
    operation_call call =
        call_dense(convention, tensors->storage, tensors->param, tensors->rows, tensors->hidden);
    if (files->input) {
        judge_block_generate(judge, block, call, files->input, NULL, 0);
        return;
    }
    for (size_t i = 0; i < ROLES_MOST; i++)
        call.inputs[i] = tensors->arrays[i].data;
    judge_block_from(judge, block, &call);
}

bool eval_function(const eval_files *files, const eval_tensors *tensors,
                   const ln_convention *convention, size_t most_rows, fingerprint_found *found)
{
    fingerprint_tensors given = {
        .input = {.digits = FINGERPRINT_EXACT, .x_digits = FINGERPRINT_EXACT}};
    fingerprint_take(tensors->arrays, files->paths, &given);
    if (given.input.dimensions == 2 && given.input.shape[0] > most_rows)
        given.input.shape[0] = most_rows;
    fingerprint_make(&given.input, found);
    bool is_among = fingerprint_is_among(&given.input, found, convention);
    fingerprint_tensors_free(&given);
    return is_among;
}
