/* .npy (tensor_forms_test.py has the other forms): what is written is read back, and no damaged file is taken or brings the reader down. */
#include "inputs/tensor/tensor.h"
#include "test.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "tensor_test.npy";

static void write_bytes(const void *bytes, size_t length)
{
    unlink(
        path); /* some file systems flush a file that is cut and written anew: thousands of times */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* A file with this header text and so many bytes of elements (their value is their place). Returns
 * its length. */
static size_t make_file(int version, const char *header, size_t data, unsigned char *bytes)
{
    size_t length = strlen(header), at = 8;
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        bytes[at++] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + at, header, length);
    for (size_t i = 0; i < data; i++)
        bytes[at + length + i] = (unsigned char)i;
    return at + length + data;
}

static bool read_it(const char *file, bool as_bf16, tensor_array *array, error *err)
{
    const tensor_request request = {.path = file, .u2_is_bf16 = as_bf16};
    return tensor_read(&request, array, err);
}

static void assert_refused(const char *what, const char *says)
{
    tensor_array array;
    error err = {0};
    if (read_it(path, false, &array, &err))
        fail_msg("taken: %s", what);
    assert_null(array.data);
    assert_non_null(strstr(err.message, path));
    assert_null(strchr(err.message, '\n'));
    if (!strstr(err.message, says))
        fail_msg("%s gave: %s", what, err.message);
}

TEST(test_round_trip)
{
    static const ln_type types[] = {LN_F32, LN_F64, LN_F16, LN_BF16};
    static const struct {
        size_t dimensions, shape[4], elements;
    } shapes[] = {
        {0, {0}, 1},    {1, {5}, 5},           {1, {0}, 0}, {2, {3, 4}, 12},
        {2, {3, 0}, 0}, {4, {2, 1, 3, 2}, 12}, {1, {1}, 1}, {3, {0, SIZE_MAX, SIZE_MAX}, 0},
    };
    unsigned char data[12 * 8];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + 1);
    for (size_t t = 0; t < 4; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            tensor_array array;
            error err = {0};
            if (!npy_write(path, types[t], shapes[s].dimensions, shapes[s].shape, data, &err) ||
                !read_it(path, types[t] == LN_BF16, &array, &err))
                fail_msg("%s", err.message);
            assert_int_equal(array.dtype, types[t]);
            assert_int_equal(array.dimensions, shapes[s].dimensions);
            assert_int_equal(array.elements, shapes[s].elements);
            for (size_t i = 0; i < array.dimensions; i++)
                assert_int_equal(array.shape[i], shapes[s].shape[i]);
            assert_memory_equal(array.data, data, array.elements * dtype_size(types[t]));
            assert_int_equal((uintptr_t)array.data % 64, 0);
            tensor_free(&array);
            assert_null(array.data);
        }
    unlink(path);
}

/* The very bytes that numpy.save(path, numpy.arange(6, dtype='<f4').reshape(2, 3)) writes. */
TEST(test_bytes)
{
    unsigned char expected[128 + 24];
    const float data[6] = {0, 1, 2, 3, 4, 5};
    const size_t shape[2] = {2, 3};
    memset(expected, ' ', 128);
    memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(expected + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 59);
    expected[127] = '\n';
    memcpy(expected + 128, data, sizeof data);
    assert_true(npy_write(path, LN_F32, 2, shape, data, NULL));
    unsigned char found[256];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(found, 1, sizeof found, file);
    fclose(file);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(found, expected, sizeof expected);
    unlink(path);
}

/* Headers that other writers may make. */
TEST(test_taken)
{
    static const struct {
        const char *header;
        size_t dimensions, elements;
    } taken[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 2, 6},
        {"{'shape':(2,3),'fortran_order':False,'descr':'<f4'}", 2, 6},
        {"{\"shape\": (2L, 3L), \"descr\": \"<f4\", \"fortran_order\": False}\n", 2, 6},
        {"  { 'descr' : '<f4' ,\t'fortran_order' : False , 'shape' : ( 6 , ) } ", 1, 6},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, ), }", 3, 6},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 1, 3},
    };
    unsigned char bytes[512];
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            tensor_array array;
            error err = {0};
            write_bytes(bytes, make_file(version, taken[i].header, 24, bytes));
            if (!read_it(path, false, &array, &err))
                fail_msg("%s: %s", taken[i].header, err.message);
            assert_int_equal(array.dimensions, taken[i].dimensions);
            assert_int_equal(array.elements, taken[i].elements);
            for (size_t j = 0; j < 24; j++)
                assert_int_equal(((unsigned char *)array.data)[j], j);
            tensor_free(&array);
        }
    unlink(path);
}

#define HEADER(descr, order, shape)                                                                \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

TEST(test_refused)
{
    static const struct {
        const char *header, *says;
    } refused[] = {
        {HEADER("'<i4'", "False", "(6,)"), "dtype '<i4': expected f4, f8, f2 or bf16"},
        {HEADER("'<u2'", "False", "(12,)"), "--dtypes bf16"},
        {HEADER("'|O'", "False", "(3,)"), "dtype '|O'"},
        {HEADER("'<c8'", "False", "(3,)"), "dtype '<c8'"},
        {HEADER("[('a', '<f4')]", "False", "(6,)"), "descr: expected a plain type"},
        {HEADER("'<f4'", "Maybe", "(2, 3)"), "fortran_order: expected True or False"},
        {HEADER("'<f4'", "False", "(2, 3"), "shape: expected a size or ')', found '}'"},
        {HEADER("'<f4'", "False", "(6)"), "its comma was missing"},
        {HEADER("'<f4'", "False", "(-6,)"), "shape: expected a size"},
        {HEADER("'<f4'", "False", "(6.0,)"), "shape: expected ',' or ')'"},
        {HEADER("'<f4'", "False", "(,)"), "shape: expected a size"},
        {HEADER("'<f4'", "False", "6"), "shape: expected a tuple"},
        {HEADER("'<f4'", "False", "(99999999999999999999999,)"), "fits this machine"},
        {HEADER("'<f4'", "False", "(4294967296, 4294967296)"), "more elements than this machine"},
        {HEADER("'<f4'", "False", "(18446744073709551615,)"), "more elements than this machine"},
        {HEADER("'<f4'", "False", "(1000000, 1000000)"), "ask for 4000000000000, it is truncated"},
        {HEADER("'<f4'", "False", "(7,)"),
         "holds 24 bytes of elements: dtype and shape ask for 28"},
        {HEADER("'<f4'", "False", "(5,)"), "ask for 20, it is too long"},
        {HEADER("'<f4'", "False", "(0,)"), "ask for 0, it is too long"},
        {HEADER("'<f4'", "False", "()"), "ask for 4, it is too long"},
        {"{'descr': '<f4', 'fortran_order': False, }", "lacks shape"},
        {"{'descr': '<f4', 'shape': (6,), }", "lacks fortran_order"},
        {"{'fortran_order': False, 'shape': (6,), }", "lacks descr"},
        {"{}", "lacks descr"},
        {"", "begin: expected '{', found 'its end'"},
        {"hello", "begin: expected '{', found 'hello'"},
        {"{'descr': '<f4', 'descr': '<f4'}", "repeated key 'descr'"},
        {"{'description': 3}", "unknown key 'description'"},
        {"{'descr' '<f4'}", "descr: expected ':'"},
        {"{'descr': '<f4' 'shape': (6,)}", "dictionary: expected ',' or '}'"},
        {"{'descr': '<f4\\'', 'fortran_order': False, 'shape': (6,), }", "a short quoted string"},
        {"{'descr': '<f4", "a short quoted string"},
        {HEADER("'<f4'", "False", "(6,)") " x", "nothing behind the dictionary"},
        {HEADER("'<f4'", "False",
                "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)"),
         "at most 32 dimensions"},
    };
    unsigned char bytes[512];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        write_bytes(bytes, make_file(1, refused[i].header, 24, bytes));
        assert_refused(refused[i].header, refused[i].says);
    }
    unlink(path);
}

TEST(test_no_npy)
{
    unlink(path);
    assert_refused("a missing file", "No such file");
    write_bytes("", 0);
    assert_refused("an empty file", "not an npy, npz or safetensors file");
    write_bytes("hello, world", 12);
    assert_refused("a text", "not an npy, npz or safetensors file");
    write_bytes("\x93NUMPY\x04\x00    ", 12);
    assert_refused("version 4", "npy version 4.0: expected 1.0, 2.0 or 3.0");
    write_bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13);
    assert_refused("a header of 4 GiB", "1 MiB at most");
    unlink(path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_refused("a directory", "not a regular file");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_refused("a pipe that nobody writes to", "not a regular file");
    unlink(path);
}

/* Cut anywhere, a file is refused; complete, it is taken. */
TEST(test_truncated)
{
    unsigned char bytes[512];
    for (int version = 1; version <= 3; version++) {
        size_t length = make_file(version, HEADER("'<f4'", "False", "(2, 3)"), 24, bytes);
        for (size_t cut = 0; cut < length; cut++) {
            write_bytes(bytes, cut);
            assert_refused("a cut file", cut == 0 ? "not an npy," : "truncated");
        }
    }
    unlink(path);
}

/* Any byte changed to any of some values, and random changes of several bytes: never a crash, a
 * leak or a reach outside (the sanitizers look), and what is taken is as long as its shape says. */
TEST(test_damaged)
{
    static const unsigned char values[] = {0, '\n', '\'', '"', '(', ')', ',', '0', '9', 'L', 255};
    unsigned char bytes[512], damaged[512];
    size_t length = make_file(1, HEADER("'<f4'", "False", "(2, 3)"), 24, bytes);
    uint32_t random = 1;
    for (size_t i = 0; i < length * sizeof values + 4000; i++) {
        memcpy(damaged, bytes, length);
        if (i < length * sizeof values)
            damaged[i / sizeof values] = values[i % sizeof values];
        for (int j = 0; i >= length * sizeof values && j < 4; j++) {
            random = random * 1664525 + 1013904223;
            damaged[8 + (random >> 16) % (length - 32)] = values[(random >> 8) % sizeof values];
        }
        write_bytes(damaged, length);
        tensor_array array;
        if (read_it(path, i % 2, &array, NULL)) {
            size_t elements = 1;
            for (size_t d = 0; d < array.dimensions; d++)
                elements *= array.shape[d];
            assert_int_equal(elements, array.elements);
            assert_int_equal(elements * dtype_size(array.dtype), 24);
            tensor_free(&array);
        }
    }
    unlink(path);
}

TEST(test_write_errors)
{
    const float data[4] = {1, 2, 3, 4};
    const size_t shape[1] = {4};
    error err = {0};
    assert_false(npy_write("no/such/directory.npy", LN_F32, 1, shape, data, &err));
    assert_int_equal(err.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(err.message, "no/such/directory.npy: cannot write it: No such file"));
    assert_false(npy_write(path, LN_F32, 33, shape, data, &err));
    assert_non_null(strstr(err.message, "33 dimensions"));
    const size_t too_many[2] = {SIZE_MAX / 2, 3};
    assert_false(npy_write(path, LN_F32, 2, too_many, data, &err));
    assert_int_not_equal(access(path, F_OK), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_false(npy_write("/dev/full", LN_F32, 1, shape, data, &err));
        assert_non_null(strstr(err.message, "No space left"));
        struct stat status;
        assert_int_equal(stat("/dev/full", &status), 0);
        assert_true(S_ISCHR(status.st_mode));
    }
}

static size_t count_files(void)
{
    size_t count = 0;
    FILE *list = popen("ls tensor_test.npy* 2>/dev/null | wc -l", "r");
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%zu", &count), 1);
    pclose(list);
    return count;
}

/* A file that cannot be finished (here by a limit on file sizes, as by a full disk) leaves the old
 * one as it was and nothing beside it. */
TEST(test_write_keeps_old)
{
    static float data[4096];
    const size_t small[1] = {4}, large[1] = {4096};
    assert_true(npy_write(path, LN_F32, 1, small, data, NULL));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {1024, 1024};
        error err = {0};
        bool limited = setrlimit(RLIMIT_FSIZE, &limit) == 0;
        bool written = npy_write(path, LN_F32, 1, large, data, &err);
        _exit(!limited ? 2 : written || !strstr(err.message, "cannot write it: File too large"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tensor_array array;
    assert_true(read_it(path, false, &array, NULL));
    assert_int_equal(array.elements, 4);
    tensor_free(&array);
    assert_int_equal(count_files(), 1);
    /* Written anew, with the rights of a plain new file. */
    mode_t mask = umask(022);
    assert_true(npy_write(path, LN_F32, 1, large, data, NULL));
    umask(mask);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0644);
    assert_int_equal(count_files(), 1);
    unlink(path);
}
