/* The tensors that the five documents print, with the digits they print (docs/conventions.md tells
 * whose LayerNorm computes what). Document 004 prints the shape of its tensor only. */
#include "inputs/families.h"

static void tile(const float *table, size_t rows, size_t width, const input_place *place, float *x)
{
    const float *row = table + place->row % rows * width;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = row[i % width];
}

/* "From scratch" chapter: two words of five numbers. */
void make_document_000(const input_place *place, float *x)
{
    static const float printed[2][5] = {
        {10.0F, 20.0F, 30.0F, 40.0F, 50.0F},
        {1.0F, 1.1F, 1.2F, 1.3F, 1.4F},
    };
    tile(*printed, 2, 5, place, x);
}

/* tinyllm: the output of its LayerNorm (its input is not printed), which is a fair input too. */
void make_document_001(const input_place *place, float *x)
{
    static const float printed[6][4] = {
        {0.2828F, 1.4225F, -1.3231F, -0.3822F},  {-0.5129F, -1.2819F, 0.4060F, 1.3888F},
        {-0.1348F, -0.1960F, 1.5598F, -1.2290F}, {1.6377F, -0.3495F, -1.0720F, -0.2162F},
        {1.1558F, -1.1942F, -0.7673F, 0.8058F},  {-1.5553F, 0.3317F, 0.0108F, 1.2128F},
    };
    tile(*printed, 6, 4, place, x);
}

/* The notebook with z-scores: its `outputs`. */
void make_document_002(const input_place *place, float *x)
{
    static const float printed[3][6] = {
        {1.5778F, 1.6956F, -1.9398F, -0.6370F, 0.3499F, 0.9727F},
        {-0.9691F, -1.4902F, 0.8478F, -1.4404F, 0.0469F, -0.9731F},
        {1.0857F, 0.8106F, -0.1296F, 0.9529F, -0.5721F, -1.0813F},
    };
    tile(*printed, 3, 6, place, x);
}

/* Step by step: 1 to 24, six rows of four. */
void make_document_003(const input_place *place, float *x)
{
    static const float printed[6][4] = {
        {1, 2, 3, 4},     {5, 6, 7, 8},     {9, 10, 11, 12},
        {13, 14, 15, 16}, {17, 18, 19, 20}, {21, 22, 23, 24},
    };
    tile(*printed, 6, 4, place, x);
}
