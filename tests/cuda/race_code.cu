#include "race_code.h"

#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

/* The last part of a variable's name. */
static std::string short_name(const char *name) {
    int status;
    char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string s = text ? text : name;
    free(text);
    size_t last = s.rfind("::");
    return last == std::string::npos ? s : s.substr(last + 2);
}

std::string place(uint32_t at, bool function_only) {
    Dl_info self;
    char command[4400], line[1024];
    std::string function, lines;
    if (!dladdr((void *)race_enter, &self)) return "?";
    snprintf(command, sizeof command, "addr2line -Cfie '%s' %#x 2>&1", self.dli_fname, at);
    FILE *f = popen(command, "r");
    for (int i = 0; f && fgets(line, sizeof line, f); i++) {
        line[strcspn(line, "\n")] = 0;
        const char *file = strrchr(line, '/');
        if (i % 2 == 0) {
            function = line;
            continue;
        }
        if (strstr(line, "/emulate.h")) continue;
        lines += lines.empty() ? "" : " in ";
        lines += file ? file + 1 : line;
        lines.resize(std::min(lines.size(), lines.find(" (")));
    }
    if (f) pclose(f);
    return function_only ? function.substr(0, function.find('(')) : lines;
}

const char *race_code() {
    Dl_info self;
    return dladdr((void *)race_enter, &self) ? (const char *)self.dli_fbase : nullptr;
}

std::vector<Variable> race_variables() {
    std::vector<Variable> variables;
    Dl_info self;
    if (!dladdr((void *)race_enter, &self)) return variables;
    const char *code = (const char *)self.dli_fbase;
    FILE *f = fopen(self.dli_fname, "rb");
    Elf64_Ehdr head;
    if (!f || fread(&head, sizeof head, 1, f) != 1) return variables;
    std::vector<Elf64_Shdr> section(head.e_shnum);
    auto read_at = [&](void *to, uint64_t at, size_t bytes) {
        return fseek(f, (long)at, SEEK_SET) == 0 && fread(to, 1, bytes, f) == bytes;
    };
    if (!read_at(&section[0], head.e_shoff, sizeof section[0] * section.size())) return variables;
    for (const Elf64_Shdr &s : section) {
        if (s.sh_type != SHT_SYMTAB) continue;
        std::vector<Elf64_Sym> symbol(s.sh_size / sizeof(Elf64_Sym));
        std::vector<char> names(section[s.sh_link].sh_size);
        if (!read_at(&symbol[0], s.sh_offset, s.sh_size) ||
            !read_at(&names[0], section[s.sh_link].sh_offset, names.size()))
            return variables;
        for (const Elf64_Sym &y : symbol) {
            bool there = ELF64_ST_TYPE(y.st_info) == STT_OBJECT && y.st_shndx < section.size() &&
                         (section[y.st_shndx].sh_flags & SHF_WRITE) && y.st_size > 0;
            if (there)
                variables.push_back({code + y.st_value, y.st_size, short_name(&names[y.st_name])});
        }
    }
    fclose(f);
    std::sort(variables.begin(), variables.end(),
              [](const Variable &a, const Variable &b) { return a.begin < b.begin; });
    return variables;
}

const Variable *variable_at(const std::vector<Variable> &variables, const char *p, size_t bytes) {
    static const Variable *last;
    if (last && p >= last->begin && p + bytes <= last->begin + last->bytes) return last;
    auto next = std::upper_bound(variables.begin(), variables.end(), p,
                                 [](const char *at, const Variable &v) { return at < v.begin; });
    if (next == variables.begin()) return nullptr;
    const Variable &v = *--next;
    return p + bytes <= v.begin + v.bytes ? last = &v : nullptr;
}
