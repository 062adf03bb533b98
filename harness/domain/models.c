/* The table of models. Hidden sizes and sequence lengths are as the papers print them; eps is that
 * of the published configuration, which papers seldom print. */
#include "domain/models.h"
#include "base/text.h"
#include <ctype.h>
#include <string.h>

#define GPT2 "Radford et al. 2019, table 2; config.json of openai-community/gpt2*: 1e-5"
#define BERT "Devlin et al. 2018, section 3; google-research/bert, README and layer_norm: 1e-12"
#define ROBERTA "Liu et al. 2019; config.json of FacebookAI/roberta-*: 1e-5"
#define VIT                                                                                        \
    "Dosovitskiy et al. 2020, table 1, 224 x 224; google-research/vision_transformer, "            \
    "configs/models.py: 1e-6"
#define CLIP "Radford et al. 2021, table 20; openai/CLIP, torch LayerNorm: 1e-5"
#define WHISPER "Radford et al. 2022, table 1, encoder, 30 s; openai/whisper, ModelDimensions: 1e-5"
#define OPT                                                                                        \
    "Zhang et al. 2022, table 1; facebookresearch/metaseq, launcher/opt_job_constants.py: 1e-5"
#define PYTHIA "Biderman et al. 2023, table 1; EleutherAI/pythia, models/*/*.yml: 1e-5"
#define NEOX "Black et al. 2022, section 2; EleutherAI/gpt-neox, configs/20B.yml: 1e-5"
#define GPTJ "Wang and Komatsuzaki 2021; model card of EleutherAI/gpt-j-6b: 1e-5"
#define BLOOM                                                                                      \
    "BigScience 2022, table 3; bigscience-workshop/bigscience, train/tr11-176B-ml/*.slurm: 1e-5"
#define FALCON "Almazrouei et al. 2023; config.json of tiiuae/falcon-*: 1e-5"

static const model_shape table_of_models[] = {
    {"gpt2", "GPT-2 124M", 768, 1024, "torch", GPT2},
    {"gpt2-medium", "GPT-2 355M", 1024, 1024, "torch", GPT2},
    {"gpt2-large", "GPT-2 774M", 1280, 1024, "torch", GPT2},
    {"gpt2-xl", "GPT-2 1.5B", 1600, 1024, "torch", GPT2},
    {"bert-base", "BERT base", 768, 512, "bert", BERT},
    {"bert-large", "BERT large", 1024, 512, "bert", BERT},
    {"roberta-base", "RoBERTa base", 768, 512, "torch", ROBERTA},
    {"roberta-large", "RoBERTa large", 1024, 512, "torch", ROBERTA},
    {"vit-b-16", "ViT-B/16", 768, 197, "manual-1e-6", VIT},
    {"vit-l-16", "ViT-L/16", 1024, 197, "manual-1e-6", VIT},
    {"vit-h-14", "ViT-H/14", 1280, 257, "manual-1e-6", VIT},
    {"clip-vit-l-14", "CLIP ViT-L/14, vision", 1024, 257, "torch", CLIP},
    {"whisper-tiny", "Whisper tiny", 384, 1500, "torch", WHISPER},
    {"whisper-base", "Whisper base", 512, 1500, "torch", WHISPER},
    {"whisper-small", "Whisper small", 768, 1500, "torch", WHISPER},
    {"whisper-medium", "Whisper medium", 1024, 1500, "torch", WHISPER},
    {"whisper-large", "Whisper large", 1280, 1500, "torch", WHISPER},
    {"opt-125m", "OPT-125M", 768, 2048, "torch", OPT},
    {"opt-350m", "OPT-350M", 1024, 2048, "torch", OPT},
    {"opt-1.3b", "OPT-1.3B", 2048, 2048, "torch", OPT},
    {"opt-2.7b", "OPT-2.7B", 2560, 2048, "torch", OPT},
    {"opt-6.7b", "OPT-6.7B", 4096, 2048, "torch", OPT},
    {"opt-13b", "OPT-13B", 5120, 2048, "torch", OPT},
    {"opt-30b", "OPT-30B", 7168, 2048, "torch", OPT},
    {"opt-66b", "OPT-66B", 9216, 2048, "torch", OPT},
    {"opt-175b", "OPT-175B", 12288, 2048, "torch", OPT},
    {"pythia-70m", "Pythia 70M", 512, 2048, "torch", PYTHIA},
    {"pythia-160m", "Pythia 160M", 768, 2048, "torch", PYTHIA},
    {"pythia-410m", "Pythia 410M", 1024, 2048, "torch", PYTHIA},
    {"pythia-1b", "Pythia 1B", 2048, 2048, "torch", PYTHIA},
    {"pythia-2.8b", "Pythia 2.8B", 2560, 2048, "torch", PYTHIA},
    {"pythia-6.9b", "Pythia 6.9B", 4096, 2048, "torch", PYTHIA},
    {"pythia-12b", "Pythia 12B", 5120, 2048, "torch", PYTHIA},
    {"gpt-neox-20b", "GPT-NeoX-20B", 6144, 2048, "torch", NEOX},
    {"gpt-j-6b", "GPT-J-6B", 4096, 2048, "torch", GPTJ},
    {"bloom-560m", "BLOOM 560M", 1024, 2048, "torch", BLOOM},
    {"bloom-1b1", "BLOOM 1.1B", 1536, 2048, "torch", BLOOM},
    {"bloom-1b7", "BLOOM 1.7B", 2048, 2048, "torch", BLOOM},
    {"bloom-3b", "BLOOM 3B", 2560, 2048, "torch", BLOOM},
    {"bloom-7b1", "BLOOM 7.1B", 4096, 2048, "torch", BLOOM},
    {"bloom", "BLOOM 176B", 14336, 2048, "torch", BLOOM},
    {"falcon-7b", "Falcon 7B", 4544, 2048, "torch", FALCON},
    {"falcon-40b", "Falcon 40B", 8192, 2048, "torch", FALCON},
};
enum { MODELS = sizeof table_of_models / sizeof *table_of_models, NEAREST = 3 };

const model_shape *models(size_t *count)
{
    *count = MODELS;
    return table_of_models;
}

/* Families that people will ask for and that have no LayerNorm: RMSNorm takes no mean away. */
static bool is_rms(const char *name)
{
    static const char *const families[] = {"llama", "mistral", "mixtral", "gemma",
                                           "qwen",  "t5",      "flan-t5", "deepseek"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i]), same = 0;
        while (same < length && tolower((unsigned char)name[same]) == families[i][same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

/* "'opt-13b', 'opt-1.3b' or 'opt-30b'": what nearest_word finds, then what it finds among the rest.
 */
static void nearest_names(const char *name, char *buffer, size_t size)
{
    const char *names[MODELS];
    size_t count = MODELS;
    for (size_t i = 0; i < MODELS; i++)
        names[i] = table_of_models[i].name;
    buffer[0] = '\0';
    for (int found = 0; found < NEAREST; found++) {
        const char *nearest = nearest_word(name, names, count);
        if (!nearest)
            return;
        size_t length = strlen(buffer);
        snprintf(buffer + length, size - length, "%s'%s'", found ? ", " : "", nearest);
        for (size_t i = 0, kept = 0; i < count; i++)
            if (names[i] != nearest)
                names[kept++] = names[i];
        count--;
    }
}

const model_shape *model_find(const char *name, error *err)
{
    char nearest[256];
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(table_of_models[i].name, name) == 0)
            return &table_of_models[i];
    nearest_names(name, nearest, sizeof nearest);
    if (is_rms(name))
        fail(err, EXIT_CODE_USAGE,
             "--model %.60s: this family normalises with RMSNorm and is not listed: say its shape, "
             "as "
             "in --conventions llama --shapes 1x4096",
             name);
    else
        fail(
            err, EXIT_CODE_USAGE,
            "unknown model '%.60s'%s%s: lnbench list models shows them; --shapes ROWSxHIDDEN takes "
            "any",
            name,
            !nearest[0]            ? ""
            : strchr(nearest, ',') ? ": near it are "
                                   : ": near it is ",
            nearest);
    return NULL;
}

void model_rows(const model_shape *model, size_t rows[3])
{
    rows[0] = 1;
    rows[1] = model->tokens < MODEL_PROMPT ? model->tokens : MODEL_PROMPT;
    rows[2] = MODEL_BATCH * model->tokens;
}
