/* A library that a plugin needs: two copies of it have one soname. */
int duet_inner(int value);

__attribute__((visibility("default"))) int duet_inner(int value)
{
    return value;
}
