/* The table of models. Hidden sizes and sequence lengths are those that the papers print; eps, which papers seldom
 * print, is that of the published configuration. If a model was trained on short sequences first and on longer ones
 * later, the table has the short length. */
#include "domain/operation.h"
#include "base/text.h"
#include "domain/case.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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

#define LLAMA2 "Touvron et al. 2023, table 1; config.json of meta-llama/Llama-2-*-hf: 1e-5"
#define LLAMA3                                                                                     \
    "Grattafiori et al. 2024, table 3 and section 3.4.1; config.json of meta-llama/*Llama-3*: "    \
    "1e-5"
#define MISTRAL "Jiang et al. 2023, table 1; config.json of mistralai/Mistral-7B-v0.1: 1e-5"
#define MIXTRAL "Jiang et al. 2024, table 1; config.json of mistralai/Mixtral-8x*-v0.1: 1e-5"
#define QWEN2 "Qwen2.5 Technical Report 2024, section 3; config.json of Qwen/Qwen2.5-*: 1e-6"
#define QWEN3 "Qwen3 Technical Report 2025, section 3; config.json of Qwen/Qwen3-*: 1e-6"
#define GEMMA "Gemma Team 2024, table 1; google/gemma_pytorch, gemma/config.py: 1e-6"
#define GEMMA2 "Gemma 2 Team 2024, table 1; google/gemma_pytorch, gemma/config.py: 1e-6"
#define DEEPSEEK                                                                                   \
    "DeepSeek-AI 2024, training; deepseek-ai/DeepSeek-V3, inference/configs; config.json and "     \
    "modeling_deepseek.py of deepseek-ai/DeepSeek-V*: 1e-6"
#define PHI2 "config.json of microsoft/phi-2: layer_norm_eps 1e-5"
#define PHI3 "Abdin et al. 2024, section 2; config.json of microsoft/Phi-3-mini-4k-instruct: 1e-5"
#define PHI4 "Abdin et al. 2024 (Phi-4), section 3; config.json of microsoft/phi-4: 1e-5"

/* The preset that is Llama's convention with eps 1e-6. */
#define LLAMA_1E6 "t5"

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
    {"phi-2", "Phi-2", 2560, 2048, "torch", PHI2},
    {"llama-2-7b", "Llama 2 7B", 4096, 4096, "llama", LLAMA2},
    {"llama-2-13b", "Llama 2 13B", 5120, 4096, "llama", LLAMA2},
    {"llama-2-70b", "Llama 2 70B", 8192, 4096, "llama", LLAMA2},
    {"llama-3-8b", "Llama 3 and 3.1 8B", 4096, 8192, "llama", LLAMA3},
    {"llama-3-70b", "Llama 3, 3.1 and 3.3 70B", 8192, 8192, "llama", LLAMA3},
    {"llama-3.1-405b", "Llama 3.1 405B", 16384, 8192, "llama", LLAMA3},
    {"llama-3.2-1b", "Llama 3.2 1B", 2048, 8192, "llama", LLAMA3},
    {"llama-3.2-3b", "Llama 3.2 3B", 3072, 8192, "llama", LLAMA3},
    {"mistral-7b", "Mistral 7B", 4096, 8192, "llama", MISTRAL},
    {"mixtral-8x7b", "Mixtral 8x7B", 4096, 32768, "llama", MIXTRAL},
    {"qwen2.5-0.5b", "Qwen2.5 0.5B", 896, 4096, LLAMA_1E6, QWEN2},
    {"qwen2.5-1.5b", "Qwen2.5 1.5B", 1536, 4096, LLAMA_1E6, QWEN2},
    {"qwen2.5-3b", "Qwen2.5 3B", 2048, 4096, LLAMA_1E6, QWEN2},
    {"qwen2.5-7b", "Qwen2.5 7B", 3584, 4096, LLAMA_1E6, QWEN2},
    {"qwen3-0.6b", "Qwen3 0.6B", 1024, 4096, LLAMA_1E6, QWEN3},
    {"qwen3-1.7b", "Qwen3 1.7B", 2048, 4096, LLAMA_1E6, QWEN3},
    {"qwen3-4b", "Qwen3 4B", 2560, 4096, LLAMA_1E6, QWEN3},
    {"qwen3-8b", "Qwen3 8B", 4096, 4096, LLAMA_1E6, QWEN3},
    {"qwen3-14b", "Qwen3 14B", 5120, 4096, LLAMA_1E6, QWEN3},
    {"qwen3-32b", "Qwen3 32B", 5120, 4096, LLAMA_1E6, QWEN3},
    {"gemma-2b", "Gemma 2B", 2048, 8192, "gemma", GEMMA},
    {"gemma-7b", "Gemma 7B", 3072, 8192, "gemma", GEMMA},
    {"gemma-2-2b", "Gemma 2 2B", 2304, 8192, "gemma", GEMMA2},
    {"gemma-2-9b", "Gemma 2 9B", 3584, 8192, "gemma", GEMMA2},
    {"gemma-2-27b", "Gemma 2 27B", 4608, 8192, "gemma", GEMMA2},
    {"deepseek-v2-lite", "DeepSeek-V2-Lite 16B", 2048, 4096, LLAMA_1E6, DEEPSEEK},
    {"deepseek-v2", "DeepSeek-V2 236B", 5120, 4096, LLAMA_1E6, DEEPSEEK},
    {"deepseek-v3", "DeepSeek-V3 and R1 671B", 7168, 4096, LLAMA_1E6, DEEPSEEK},
    {"phi-3-mini", "Phi-3 and 3.5 mini 3.8B", 3072, 4096, "llama", PHI3},
    {"phi-4", "Phi-4 14B", 5120, 4096, "llama", PHI4},
};
enum { MODELS = sizeof table_of_models / sizeof *table_of_models };

const model_shape *models(size_t *count)
{
    *count = MODELS;
    return table_of_models;
}

/* Returns the value of the first of these keys that the configuration has, or NULL; *key is that key. */
static const json_t *value_of(const json_t *config, const char *const keys[], const char **key)
{
    const json_t *found = NULL;
    for (size_t i = 0; keys[i] && !found; i++) {
        *key = keys[i];
        found = json_object_get(config, keys[i]);
    }
    return found;
}

static const char *config_dtype; /* the type in the config.json that was read last; NULL: none */

const char *model_dtype(void)
{
    return config_dtype;
}

static void take_config(const json_t *config, const char *path, model_shape *made,
                        char convention[CONVENTION_MAX_LENGTH])
{
    static const char *const hidden_keys[] = {"hidden_size", "n_embd", "d_model", NULL},
                             *const eps_keys[] = {"rms_norm_eps", "layer_norm_eps",
                                                  "layer_norm_epsilon", NULL},
                             *const token_keys[] = {"max_position_embeddings", "n_positions", NULL},
                             *const type_keys[] = {"torch_dtype", "dtype", NULL},
                             *const types[][2] = {{"float32", "f32"},
                                                  {"float64", "f64"},
                                                  {"bfloat16", "bf16"},
                                                  {"float16", "f16"}};
    const char *key, *of_eps, *type = json_string_value(value_of(config, type_keys, &key));
    const char *kind = json_string_value(json_object_get(config, "model_type"));
    const json_t *hidden = value_of(config, hidden_keys, &key);
    const json_t *eps = value_of(config, eps_keys, &of_eps);
    json_int_t tokens = json_integer_value(value_of(config, token_keys, &key));
    char number[32];
    if (json_integer_value(hidden) < 1 || json_integer_value(hidden) > 1 << 24)
        die(EXIT_CODE_USAGE, "%.200s: no hidden_size, n_embd or d_model from 1 to %d", path,
            1 << 24);
    if (!json_is_number(eps) || !(json_number_value(eps) > 0 && json_number_value(eps) < 1))
        die(EXIT_CODE_USAGE,
            "%.200s: no rms_norm_eps, layer_norm_eps or layer_norm_epsilon above 0", path);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i][0]) == 0)
            config_dtype = types[i][1];
    if (type && !config_dtype)
        die(EXIT_CODE_USAGE, "%.200s: torch_dtype %.40s is none of lnbench's types", path, type);
    made->hidden = (size_t)json_integer_value(hidden);
    made->tokens = tokens >= 1 && tokens < 4096 ? (size_t)tokens : 4096;
    number_format(json_number_value(eps), number);
    if (strcmp(of_eps, "rms_norm_eps") != 0)
        snprintf(convention, CONVENTION_MAX_LENGTH, "eps=%s@var,affine=vector", number);
    else
        snprintf(convention, CONVENTION_MAX_LENGTH, "operation=rmsnorm,eps=%s@square,weight=%s",
                 number, kind && strncmp(kind, "gemma", 5) == 0 ? "1+w" : "w,cast=yes");
}

/* Reads a file, or the config.json of a folder. A multimodal model has the text model in a member "text_config". */
static const model_shape *read_config(const char *given)
{
    static char path[1024], convention[CONVENTION_MAX_LENGTH];
    static model_shape made;
    struct stat about;
    json_error_t why;
    bool folder = stat(given, &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(path, sizeof path, "%.900s%s", given, folder ? "/config.json" : "");
    made = (model_shape){.name = path, .title = path, .convention = convention, .source = path};
    json_t *config = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    const json_t *text = json_object_get(config, "text_config");
    if (!config)
        die(EXIT_CODE_USAGE, "%.200s: line %d: %.200s", path, why.line, why.text);
    take_config(text ? text : config, path, &made, convention);
    json_decref(config);
    return &made;
}

/* Returns true if an id means the named model: "meta-llama/Meta-Llama-3-8B-Instruct" is "llama-3-8b". */
static bool is_id_of(const char *id, const char *name)
{
    static const char *const endings[] = {"",         "-hf",      "-v0.1",     "-v0.3",
                                          "-base",    "-it",      "-instruct", "-chat",
                                          "-chat-hf", "-uncased", "-cased"};
    const char *slash = strrchr(id, '/'), *bare = slash ? slash + 1 : id;
    bare += slash && strncasecmp(bare, "Meta-", 5) == 0 ? 5 : 0;
    size_t length = strlen(name);
    for (size_t i = 0; strncasecmp(bare, name, length) == 0 && i < sizeof endings / sizeof *endings;
         i++)
        if (strcasecmp(bare + length, slash ? endings[i] : "") == 0)
            return true;
    return false;
}

const model_shape *model_find(const char *name)
{
    const char *names[MODELS];
    char meant[MEANT_LENGTH];
    config_dtype = NULL;
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    if ((slash && access(name, F_OK) == 0) || (dot && strcmp(dot, ".json") == 0))
        return read_config(name);
    for (size_t i = 0; i < MODELS; i++) {
        names[i] = table_of_models[i].name;
        if (is_id_of(name, names[i]))
            return &table_of_models[i];
    }
    if (access(name, F_OK) == 0 && name[0])
        return read_config(name);
    die(EXIT_CODE_USAGE,
        "unknown model '%.60s'%s: lnbench list models shows them; --shapes ROWSxHIDDEN takes any, "
        "and --model a config.json",
        name, did_you_mean(slash ? slash + 1 : name, names, MODELS, meant));
}
