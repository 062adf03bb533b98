/* An .npy file that lnbench writes is read back, and has exactly the bytes that NumPy would write; errors have a clear
 * message. (tensor_forms_test.py tests reading.) */
#include "inputs/tensor.h"
#include "test.h"
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "tensor_test.npy";

static arena memory;

static tensor_array read_it(const char *file, bool as_bf16)
{
    const tensor_request request = {.path = file, .u2_is_bf16 = as_bf16};
    tensor_array array;
    tensor_read(&memory, &request, &array);
    return array;
}

TEST(test_round_trip)
{
    static const ln_type types[] = {LN_F32, LN_F64, LN_F16, LN_BF16};
    static const struct {
        size_t dimensions, shape[4], elements;
    } shapes[] = {
        {0, {0}, 1},    {1, {5}, 5},           {1, {0}, 0}, {2, {3, 4}, 12},
        {2, {3, 0}, 0}, {4, {2, 1, 3, 2}, 12}, {1, {1}, 1}, {3, {0, SIZE_MAX / 2, SIZE_MAX / 2}, 0},
    };
    unsigned char data[12 * 8];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + 1);
    for (size_t t = 0; t < 4; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            npy_write(path, types[t], shapes[s].dimensions, shapes[s].shape, data);
            const tensor_array array = read_it(path, types[t] == LN_BF16);
            assert_int_equal(array.dtype, types[t]);
            assert_int_equal(array.dimensions, shapes[s].dimensions);
            assert_int_equal(array.elements, shapes[s].elements);
            for (size_t i = 0; i < array.dimensions; i++)
                assert_int_equal(array.shape[i], shapes[s].shape[i]);
            assert_memory_equal(array.data, data, array.elements * dtype_size(types[t]));
            assert_int_equal((uintptr_t)array.data % 64, 0);
        }
    arena_free(&memory);
    unlink(path);
}

/* The bytes are those that numpy.save(path, numpy.arange(6, dtype='<f4').reshape(2, 3)) writes. */
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
    npy_write(path, LN_F32, 2, shape, data);
    unsigned char found[256];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(found, 1, sizeof found, file);
    fclose(file);
    assert_int_equal(length, sizeof expected);
    assert_memory_equal(found, expected, sizeof expected);
    unlink(path);
}

TEST(test_write_errors)
{
    const float data[4] = {1, 2, 3, 4};
    const size_t shape[1] = {4};
    assert_dies(EXIT_CODE_ENVIRONMENT, "no/such/directory.npy: cannot write it: No such file",
                npy_write("no/such/directory.npy", LN_F32, 1, shape, data));
    assert_dies(EXIT_CODE_USAGE, "33 dimensions", npy_write(path, LN_F32, 33, shape, data));
    const size_t too_many[2] = {SIZE_MAX / 2, 3};
    assert_dies(EXIT_CODE_USAGE, "more elements", npy_write(path, LN_F32, 2, too_many, data));
    assert_int_not_equal(access(path, F_OK), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_dies(EXIT_CODE_ENVIRONMENT, "No space left",
                    npy_write("/dev/full", LN_F32, 1, shape, data));
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

/* If a file cannot be finished (here because of a limit on file sizes), the old file stays as it was, and no other file
 * is left. */
TEST(test_write_keeps_old)
{
    static float data[4096];
    const size_t small[1] = {4}, large[1] = {4096};
    npy_write(path, LN_F32, 1, small, data);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {1024, 1024};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_dies(EXIT_CODE_ENVIRONMENT, "cannot write it: File too large",
                    npy_write(path, LN_F32, 1, large, data));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read_it(path, false).elements, 4);
    arena_free(&memory);
    assert_int_equal(count_files(), 1);
    /* A rewritten file has the permissions of an ordinary new file. */
    mode_t mask = umask(022);
    npy_write(path, LN_F32, 1, large, data);
    umask(mask);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0644);
    assert_int_equal(count_files(), 1);
    unlink(path);
}
