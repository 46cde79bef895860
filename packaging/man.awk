# A manual page from `fsdpc help reference`: awk -v page=fsdpc.1 -v version="fsdpc 0.1.0". The
# chapters of the reference are sections of one of the three pages.
BEGIN {
    split("commands options warnings exit-codes", names); for (i in names) of["fsdpc.1", names[i]]
    split("fsdp-run environment exit-codes", names); for (i in names) of["fsdp-run.1", names[i]]
    about["fsdpc.1"] = "compiles models to plans for sharded training"
    about["fsdp-run.1"] = "trains plans of fsdpc"
    about["fsd.5"] = "model files of fsdpc"
    other["fsdpc.1"] = "\\fBfsdp\\-run\\fP(1), \\fBfsd\\fP(5)"
    other["fsdp-run.1"] = "\\fBfsdpc\\fP(1), \\fBfsd\\fP(5)"
    other["fsd.5"] = "\\fBfsdpc\\fP(1), \\fBfsdp\\-run\\fP(1)"
    form["fsdpc.1"] = "\\fBfsdpc\\fP \\fICOMMAND\\fP [\\fIOPTION\\fP]... [\\fIFILE\\fP]..."
    form["fsdp-run.1"] = "\\fBfsdp\\-run\\fP [\\fB\\-n\\fP \\fIRANKS\\fP] [\\fIOPTION\\fP]... \\fIPLAN\\fP"
    split(page, part, ".")
    printf ".TH %s %s \"\" \"%s\"\n.SH NAME\n%s \\- %s\n", toupper(roff(part[1])), part[2], version,
        roff(part[1]), about[page]
    if (page in form) printf ".SH SYNOPSIS\n%s\n", form[page]
}

# A line as roff takes it as it is.
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/^[.']/, "\\\\\\&&", text)
    return text
}
# Markdown's text without its marks.
function plain(text) {
    gsub(/\\\\/, "\001", text)
    gsub(/\\/, "", text)
    gsub(/`/, "", text)
    gsub(/\001/, "\\", text)
    gsub(/\002/, "|", text)
    return text
}

/^```/ && shown { code = !code; print code ? ".PP\n.RS 4\n.nf" : ".fi\n.RE"; next }
code { if (shown) print roff($0); next }
/^## / {
    chapter = substr($0, 4)
    language = !(("fsdpc.1", chapter) in of) && !(("fsdp-run.1", chapter) in of) && chapter != "diagnostics"
    shown = page == "fsd.5" ? language : (page, chapter) in of
    if (shown) printf ".SH %s\n", toupper(roff(chapter))
    next
}
!shown { next }
/^### / { printf ".SS \"%s\"\n", roff(plain(substr($0, 5))); next }
/^\|---/ { next }
# A row of a table: its first cell is what the others describe.
/^\|/ {
    gsub(/\\\\/, "\001") # \| separates no cells, but \\| does
    gsub(/\\\|/, "\002")
    n = split($0, cell, / *\| */)
    for (i = 2; i < n; i++) cell[i] = plain(cell[i])
    head = cell[2]
    rest = ""
    for (i = 3; i < n; i++) if (cell[i] != "") rest = rest (rest == "" ? "" : "; ") cell[i]
    printf ".TP\n\\fB%s\\fP\n%s\n", roff(head), roff(rest)
    next
}
/^$/ { print ".PP"; next }
{ print roff(plain($0)) }
END { printf ".SH \"SEE ALSO\"\n%s\n", other[page] }
