/* Places in the raced module's code and its variables, by name. */
#ifndef FSDPC_TESTS_CUDA_RACE_CODE_H
#define FSDPC_TESTS_CUDA_RACE_CODE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Variable {
    const char *begin;
    size_t bytes;
    std::string name;
};

const char *race_code();                /* where the module's code begins, or NULL */
std::vector<Variable> race_variables(); /* from its symbol table, in the order of addresses */
/* The __shared__ variable that holds these bytes, or NULL. */
const Variable *variable_at(const std::vector<Variable> &variables, const char *p, size_t bytes);
/* Function and lines, from the innermost, of an address in the module. */
std::string place(uint32_t at, bool function_only);

#endif
