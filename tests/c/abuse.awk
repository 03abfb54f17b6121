# Writes, of the header's functions, what abuse.c calls them by: for each a C function that lets abuse_arguments.c choose every argument
# by its type and name, and a table of all. A parameter of a new kind does not compile until somebody says what is right for it.

function trimmed(text) { gsub(/^ +| +$/, "", text); return text }

# The function that chooses an argument.
function chooser(type, name) {
    if (type == "trunkline_str") return "choose_text(h, \"" name "\")"
    if (type !~ /\*|_fn$/) return "choose_number(h, \"" name "\")"
    # A place for a handle of any kind.
    sub(/trunkline_(session|lease|op|subscription) \*$/, "uint64_t *", type)
    gsub(/trunkline_/, "", type); gsub(/ ?\*/, "_p", type); gsub(/ /, "_", type)
    return "choose_" type "(h)"
}

# What becomes of a result. A status without an error is what some error has.
function taken(type, call) {
    if (type == "trunkline_status" && call ~ / err\)$/) return "take_status(h, " call ")"
    return type == "trunkline_str" ? "take_text_of(h, " call ")" : type == "void" ? call : "(void)" call
}

function write_call(declaration,    at, name, result, count, parameters, number, type, names) {
    at = match(declaration, /trunkline_[a-z_]+\(/)
    name = substr(declaration, RSTART, RLENGTH - 1)
    result = trimmed(substr(declaration, 1, RSTART - 1))
    count = split(substr(declaration, RSTART + RLENGTH, length(declaration) - RSTART - RLENGTH - 1), parameters, ",")
    if (trimmed(parameters[1]) == "void") count = 0
    print "static void call_" name "(host *h)\n{\n    (void)h;"
    for (number = 1; number <= count; number++) {
        match(parameters[number], /[a-z_]+$/)
        type = trimmed(substr(parameters[number], 1, RSTART - 1))
        at = substr(parameters[number], RSTART)
        print "    " type " " at " = " chooser(type, at) ";"
        names = names (number > 1 ? ", " : "") at
    }
    print "    " taken(result, name "(" names ")") ";\n}\n"
    table = table "    {\"" name "\", call_" name "},\n"
}

/^extern "C" \{/ { is_function = 1; next }
!is_function || /^(\/\*| \*|#|}|TRUNKLINE_MUST_USE$)/ { next }
{ declaration = declaration " " trimmed($0) }
/\);$/ { write_call(declaration); declaration = "" }
END { printf "static const function functions[] = {\n%s};\n", table }
