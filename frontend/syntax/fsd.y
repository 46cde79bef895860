/* Grammar of the .fsd language: a file, or one expression for the value of `-s`.
 *
 * The parser is pure; its state is in Parser (parser.h). Tokens come through newlines.c, which
 * turns line ends into NL where they end a statement and repairs unbalanced brackets, so brackets
 * always balance here. Each list recovers at `error NL`; newlines.c skips nested blocks until that
 * NL.
 */
%code requires {
#include "parser.h"
}
%define parse.error custom
%define parse.lac full
%define api.pure full
%define api.prefix {fsd_}
%define api.location.type {Span}
%locations
%expect 0
%param { void *scanner }
%parse-param { Parser *p }
%initial-action { @$ = (Span){.file = p->file, .line = 1, .col = 1, .end_line = 1, .end_col = 1}; }

%code {
#include <string.h>

#include "lexer.h"

#define YYINITDEPTH 200
#define YYMAXDEPTH 20000
#define YYLLOC_DEFAULT(current, rhs, n)                                                            \
    do {                                                                                           \
        if (n) {                                                                                   \
            (current) = span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n));                             \
        } else {                                                                                   \
            (current) = YYRHSLOC(rhs, 0);                                                          \
            (current).line = (current).end_line;                                                   \
            (current).col = (current).end_col;                                                     \
        }                                                                                          \
    } while (0)

#define fsd_lex(value, place, scanner) next_token((value), (place), (scanner))

static void fsd_error(Span *at, void *scanner, Parser *p, const char *message);
static Node *node(Parser *p, NodeKind kind, Span span, const char *text);
static Node *add_kid(Parser *p, Node *parent, Node *kid);
static Node *unary(Parser *p, NodeKind kind, Span span, Node *operand);
static Node *binary(Parser *p, Span span, const char *operator, Node *left, Node *right);
static void end_recovery(Parser *p);

#define ADD(parent, kid)                                                                           \
    add_kid(p, (parent), (kid));                                                                   \
    if (p->abandoned) YYABORT
}

%union {
    Node *node;
    const char *text;
}

%token START_FILE START_EXPRESSION
%token <text> ID "name" NUM "number" STR "string"
%token NL "end of line" MODULE "`module`" CONFIG "`config`" PRESET "`preset`" USE "`use`"
%token MODEL "`model`" TIE "`tie`" REQUIRE "`require`" FOR "`for`" IN "`in`" IF "`if`"
%token ELSE "`else`" RETURN "`return`" AS "`as`" TRUE "`true`" FALSE "`false`" NONE "`none`"
%token AND "`and`" OR "`or`" NOT "`not`" PLUSEQ "`+=`" EQ "`==`" NE "`!=`" LE "`<=`" GE "`>=`"
%token IDIV "`//`" POW "`**`"
%type <node> items item entries entry params given paramlist param shape members member fields
%type <node> idlist type opt_args opt_dims opt_init attrs attr block stmts stmt args arglist arg
%type <node> exprlist expr opt_else else_members indices index limit
%type <text> opt_doc opt_label

%left OR
%left AND
%precedence NOT
%nonassoc EQ NE '<' '>' LE GE
%left '+' '-'
%left '*' '/' '%' IDIV
%precedence AS
%precedence UMINUS
%right POW
%precedence '(' '[' '.'

%%
start: START_FILE items                    { p->root = $2; }
     | START_EXPRESSION opt_nl expr NL     { p->root = $3; }
     ;
opt_nl: %empty
     | opt_nl NL
     ;
items: %empty                              { $$ = node(p, NODE_FILE, @$, NULL); }
     | items item                          { $$ = ADD($1, $2); }
     | items NL
     | items error NL                      { $$ = $1; yyerrok; end_recovery(p); }
     ;
item: USE STR NL                           { $$ = node(p, NODE_USE, span_join(@1, @2), $2);
             $$->text_span = @2; }
     | CONFIG '{' entries '}' NL           { $$ = $3; $$->kind = NODE_CONFIG; $$->span = @1; }
     | CONFIG ID '{' entries '}' NL
           { $$ = $4; $$->kind = NODE_SECTION; $$->text = "config"; $$->label = $2; $$->span = @1;
             $$->text_span = span_join(@1, @2); }
     | PRESET STR '{' entries '}' NL
           { $$ = $4; $$->kind = NODE_PRESET; $$->text = $2; $$->span = span_join(@1, @2); }
     | MODULE ID params '{' members '}' NL
           { $$ = node(p, NODE_MODULE, @2, $2); ADD($$, $3); ADD($$, $5); }
     | MODEL '=' expr NL                   { $$ = node(p, NODE_MODEL, @3, NULL); ADD($$, $3); }
     | ID opt_label '{' entries '}' NL
           { $$ = $4; $$->kind = NODE_SECTION; $$->text = $1; $$->label = $2; $$->span = @1;
             $$->text_span = @1; }
     ;
opt_label: %empty                          { $$ = NULL; }
     | ID                                  { $$ = $1; }
     ;
entries: %empty                            { $$ = node(p, NODE_SECTION, @$, NULL); }
     | entries entry                       { $$ = ADD($1, $2); }
     | entries NL
     | entries error NL                    { $$ = $1; yyerrok; end_recovery(p); }
     ;
entry: ID '=' expr opt_doc NL
           { $$ = node(p, NODE_SET, span_join(@1, @3), $1); $$->text_span = @1; $$->label = $4;
             ADD($$, $3); }
     | ID '=' expr ELSE expr opt_doc NL
           { $$ = node(p, NODE_SET, span_join(@1, @5), $1); $$->text_span = @1; $$->label = $6;
             ADD($$, $3); ADD($$, $5); }
     | STR '=' expr opt_doc NL
           { $$ = node(p, NODE_SET_PATH, span_join(@1, @3), $1); $$->text_span = @1;
             $$->label = $4; ADD($$, $3); }
     | REQUIRE expr opt_doc NL
           { $$ = node(p, NODE_REQUIRE, @2, NULL); $$->label = $3; ADD($$, $2); }
     | ID '{' entries '}' NL
           { $$ = $3; $$->text = $1; $$->span = $$->text_span = @1; }
     ;
opt_doc: %empty                            { $$ = NULL; }
     | STR                                 { $$ = $1; }
     ;
params: %empty                             { $$ = node(p, NODE_PARAMS, @$, NULL); }
     | given                               { $$ = $1; }
     ;
given: '(' ')'                             { $$ = node(p, NODE_PARAMS, @$, NULL); }
     | '(' paramlist ')'                   { $$ = $2; }
     ;
paramlist: param                           { $$ = node(p, NODE_PARAMS, @$, NULL); ADD($$, $1); }
     | paramlist ',' param                 { $$ = ADD($1, $3); }
     ;
param: ID                                  { $$ = node(p, NODE_PARAM, @1, $1); }
     | ID '=' expr                         { $$ = node(p, NODE_PARAM, @1, $1); $$->value = $3; }
     | ID ':' shape                        { $$ = node(p, NODE_PARAM, @1, $1); $$->shape = $3; }
     | ID ':' shape '=' expr
           { $$ = node(p, NODE_PARAM, @1, $1); $$->shape = $3; $$->value = $5; }
     ;
shape: '[' exprlist ']'                    { $$ = $2; $$->kind = NODE_SHAPE; $$->span = @$; }
     | '[' ']'                             { $$ = node(p, NODE_SHAPE, @$, NULL); }
     ;
members: %empty                            { $$ = node(p, NODE_MEMBERS, @$, NULL); }
     | members member                      { $$ = ADD($1, $2); }
     | members NL
     | members error NL                    { $$ = $1; yyerrok; end_recovery(p); }
     ;
member: fields NL                          { $$ = $1; }
     | TIE expr '=' expr NL
           { $$ = node(p, NODE_TIE, span_join(@1, @4), NULL); ADD($$, $2); ADD($$, $4); }
     | REQUIRE expr opt_doc NL
           { $$ = node(p, NODE_REQUIRE, @2, NULL); $$->label = $3; ADD($$, $2); }
     | IF expr '{' members '}' else_members NL
           { $$ = node(p, NODE_MEMBER_IF, span_join(@1, @2), NULL); ADD($$, $2); ADD($$, $4);
             ADD($$, $6); }
     | ID given block NL
           { $$ = node(p, NODE_METHOD, @1, $1); ADD($$, $2); ADD($$, $3); }
     | ID given '=' expr NL
           { $$ = node(p, NODE_METHOD, @1, $1); ADD($$, $2);
             Node *body = unary(p, NODE_RETURN, @4, $4); ADD($$, body); }
     ;
fields: idlist ':' type opt_init attrs
           { $$ = node(p, NODE_FIELD, @1, NULL); ADD($$, $1); ADD($$, $3); ADD($$, $4);
             ADD($$, $5); }
     ;
idlist: ID                                 { $$ = node(p, NODE_NAMES, @$, NULL);
             ADD($$, node(p, NODE_NAME, @1, $1)); }
     | idlist ',' ID                       { $$ = ADD($1, node(p, NODE_NAME, @3, $3));
             $$->span = @$; }
     ;
type: ID opt_args opt_dims
           { $$ = node(p, NODE_TYPE, @$, $1); $$->text_span = @1; ADD($$, $2); ADD($$, $3); }
     ;
opt_args: %empty                           { $$ = NULL; }
     | '(' args ')'                        { $$ = $2; $$->span = @$; }
     ;
opt_dims: %empty                           { $$ = NULL; }
     | shape                               { $$ = $1; }
     ;
opt_init: %empty                           { $$ = NULL; }
     | '=' expr                            { $$ = $2; }
     ;
attrs: %empty                              { $$ = node(p, NODE_ATTRIBUTES, @$, NULL); }
     | attrs attr                          { $$ = ADD($1, $2); }
     ;
attr: '@' ID opt_args                      { $$ = node(p, NODE_ATTRIBUTE, @$, $2); ADD($$, $3); }
     ;
block: '{' stmts '}'                       { $$ = $2; }
     ;
stmts: %empty                              { $$ = node(p, NODE_BLOCK, @$, NULL); }
     | stmts stmt                          { $$ = ADD($1, $2); }
     | stmts NL
     | stmts error NL                      { $$ = $1; yyerrok; end_recovery(p); }
     ;
stmt: idlist '=' expr NL
           { $$ = node(p, NODE_LET, span_join(@1, @3), NULL); ADD($$, $1); ADD($$, $3); }
     | ID PLUSEQ expr NL
           { $$ = node(p, NODE_ADD_TO, span_join(@1, @3), $1); $$->text_span = @1; ADD($$, $3); }
     | RETURN expr NL                      { $$ = unary(p, NODE_RETURN, span_join(@1, @2), $2); }
     | FOR ID IN expr block NL
           { $$ = node(p, NODE_FOR, span_join(@1, @4), $2); $$->text_span = @2; ADD($$, $4);
             ADD($$, $5); }
     | IF expr block opt_else NL
           { $$ = node(p, NODE_IF, span_join(@1, @2), NULL); ADD($$, $2); ADD($$, $3);
             ADD($$, $4); }
     | ID '(' args ')' NL
           { Node *call = node(p, NODE_CALL, span_join(@1, @4), NULL);
             ADD(call, node(p, NODE_REF, @1, $1)); ADD(call, $3);
             $$ = unary(p, NODE_DO, call->span, call); }
     ;
else_members: %empty                       { $$ = node(p, NODE_MEMBERS, @$, NULL); }
     | ELSE '{' members '}'                { $$ = $3; }
     ;
opt_else: %empty                           { $$ = NULL; }
     | ELSE block                          { $$ = $2; }
     ;
args: %empty                               { $$ = node(p, NODE_ARGS, @$, NULL); }
     | arglist                             { $$ = $1; }
     | arglist ','                         { $$ = $1; }
     ;
arglist: arg                               { $$ = node(p, NODE_ARGS, @$, NULL); ADD($$, $1); }
     | arglist ',' arg                     { $$ = ADD($1, $3); $$->span = @$; }
     ;
arg: expr                                  { $$ = $1; }
     | ID '=' expr
           { $$ = node(p, NODE_NAMED, @$, $1); $$->text_span = @1; ADD($$, $3); }
     ;
indices: index                            { $$ = node(p, NODE_LIST, @$, NULL); ADD($$, $1); }
     | indices ',' index                   { $$ = ADD($1, $3); $$->span = @$; }
     ;
index: expr                                { $$ = $1; }
     | limit ':' limit                     { $$ = node(p, NODE_RANGE, @$, NULL); ADD($$, $1);
             ADD($$, $3); }
     | limit ':' limit ':' expr            { $$ = node(p, NODE_RANGE, @$, NULL); ADD($$, $1);
             ADD($$, $3); ADD($$, $5); }
     | '*'                                 { $$ = node(p, NODE_REF, @$, "*"); /* names tables */ }
     ;
limit: %empty                              { $$ = NULL; }
     | expr                                { $$ = $1; }
     ;
exprlist: expr                             { $$ = node(p, NODE_LIST, @$, NULL); ADD($$, $1); }
     | exprlist ',' expr                   { $$ = ADD($1, $3); $$->span = @$; }
     ;
expr: NUM                                  { $$ = node(p, NODE_NUMBER, @$, $1); }
     | STR                                 { $$ = node(p, NODE_STRING, @$, $1); }
     | TRUE                                { $$ = node(p, NODE_TRUE, @$, NULL); }
     | FALSE                               { $$ = node(p, NODE_FALSE, @$, NULL); }
     | NONE                                { $$ = node(p, NODE_NONE, @$, NULL); }
     | ID                                  { $$ = node(p, NODE_REF, @$, $1); }
     | MODEL                               { $$ = node(p, NODE_REF, @$, "model"); }
     | '(' args ')'                        { $$ = $2; $$->kind = NODE_TUPLE; $$->span = @$; }
     | '[' exprlist ']'                    { $$ = $2; $$->span = @$; }
     | '[' ']'                             { $$ = node(p, NODE_LIST, @$, NULL); }
     | expr '(' args ')'
           { $$ = node(p, NODE_CALL, @$, NULL); ADD($$, $1); ADD($$, $3); }
     | expr '[' indices ']'
           { $$ = node(p, NODE_INDEX, @$, NULL); ADD($$, $1); ADD($$, $3); }
     | expr '.' ID
           { $$ = node(p, NODE_MEMBER, @$, $3); $$->text_span = @3; ADD($$, $1); }
     | expr AS shape                       { $$ = node(p, NODE_AS, @$, NULL); ADD($$, $1);
             ADD($$, $3); }
     | '-' expr %prec UMINUS               { $$ = unary(p, NODE_NEGATE, @$, $2); if (!$$) YYABORT; }
     | NOT expr                            { $$ = unary(p, NODE_NOT, @$, $2); if (!$$) YYABORT; }
     | expr '+' expr                       { $$ = binary(p, @$, "+", $1, $3); if (!$$) YYABORT; }
     | expr '-' expr                       { $$ = binary(p, @$, "-", $1, $3); if (!$$) YYABORT; }
     | expr '*' expr                       { $$ = binary(p, @$, "*", $1, $3); if (!$$) YYABORT; }
     | expr '/' expr                       { $$ = binary(p, @$, "/", $1, $3); if (!$$) YYABORT; }
     | expr IDIV expr                      { $$ = binary(p, @$, "//", $1, $3); if (!$$) YYABORT; }
     | expr '%' expr                       { $$ = binary(p, @$, "%", $1, $3); if (!$$) YYABORT; }
     | expr POW expr                       { $$ = binary(p, @$, "**", $1, $3); if (!$$) YYABORT; }
     | expr EQ expr                        { $$ = binary(p, @$, "==", $1, $3); if (!$$) YYABORT; }
     | expr NE expr                        { $$ = binary(p, @$, "!=", $1, $3); if (!$$) YYABORT; }
     | expr '<' expr                       { $$ = binary(p, @$, "<", $1, $3); if (!$$) YYABORT; }
     | expr '>' expr                       { $$ = binary(p, @$, ">", $1, $3); if (!$$) YYABORT; }
     | expr LE expr                        { $$ = binary(p, @$, "<=", $1, $3); if (!$$) YYABORT; }
     | expr GE expr                        { $$ = binary(p, @$, ">=", $1, $3); if (!$$) YYABORT; }
     | expr AND expr                       { $$ = binary(p, @$, "and", $1, $3); if (!$$) YYABORT; }
     | expr OR expr                        { $$ = binary(p, @$, "or", $1, $3); if (!$$) YYABORT; }
     ;
%%

static Node *node(Parser *p, NodeKind kind, Span span, const char *text)
{
    return node_new(p->arena, kind, span, text);
}

/* Adds a kid and keeps the tree low enough for recursive walks: beyond the limit the parse is
 * abandoned with one error. */
static Node *add_kid(Parser *p, Node *parent, Node *kid)
{
    node_add(p->arena, parent, kid);
    if (parent->depth > AST_MAX_DEPTH && !p->abandoned)
        report_too_deep(p, kid ? kid->span : parent->span);
    return parent;
}

static Node *unary(Parser *p, NodeKind kind, Span span, Node *operand)
{
    Node *e = add_kid(p, node(p, kind, span, NULL), operand);
    return p->abandoned ? NULL : e;
}

static Node *binary(Parser *p, Span span, const char *operator, Node *left, Node *right)
{
    Node *e = node(p, NODE_BINARY, span, operator);
    add_kid(p, e, left);
    if (!p->abandoned) add_kid(p, e, right);
    return p->abandoned ? NULL : e;
}

static void end_recovery(Parser *p)
{
    p->recovering = false;
    if (p->errors >= MAX_SYNTAX_ERRORS) p->abandoned = true;
}

/* Called by bison itself only when its stack would pass YYMAXDEPTH. */
static void fsd_error(Span *at, void *scanner, Parser *p, const char *message)
{
    (void)scanner, (void)message;
    if (!p->abandoned) report_too_deep(p, *at);
}

/* Operators are never useful in "expected ..."; tokens that start an expression are summarized as
 * "an expression". */
static bool worth_naming(yysymbol_kind_t symbol)
{
    const char *name = yysymbol_name(symbol);
    if (name[0] == '\'') return strchr("(){}[]:=,", name[1]);
    return symbol == YYSYMBOL_ID || symbol == YYSYMBOL_STR || symbol == YYSYMBOL_NL ||
           symbol == YYSYMBOL_MODULE || symbol == YYSYMBOL_CONFIG || symbol == YYSYMBOL_IN;
}

static const char *symbol_text(yysymbol_kind_t symbol)
{
    const char *name = yysymbol_name(symbol);
    static const char *const quoted[] = {"`(`", "`)`", "`[`", "`]`", "`{`", "`}`", "`:`", "`=`",
                                         "`,`", "`.`", "`+`", "`-`", "`*`", "`/`", "`%`", "`<`",
                                         "`>`", "`@`", "`;`"};
    if (name[0] == '\'')
        for (size_t i = 0; i < ARRAY_LEN(quoted); i++)
            if (quoted[i][1] == name[1]) return quoted[i];
    if (symbol == YYSYMBOL_YYEOF) return "end of file";
    return name;
}

/* The letters of hints.def for what is expected here. */
static void wanted_letters(const yysymbol_kind_t *expected, int n, char *out)
{
    bool name = false, string = false, expression = false, end = false;
    for (int i = 0; i < n; i++) {
        const char *symbol = yysymbol_name(expected[i]);
        expression |= expected[i] == YYSYMBOL_NUM;
        name |= expected[i] == YYSYMBOL_ID;
        string |= expected[i] == YYSYMBOL_STR;
        end |= expected[i] == YYSYMBOL_NL;
        if (symbol[0] == '\'' && strchr("(){}[]=,:", symbol[1])) *out++ = symbol[1];
    }
    if (expression) *out++ = 'x';
    if (end) *out++ = 'e';
    if (name && !expression) *out++ = 'n';
    if (string && !name && !end) *out++ = 's';
    *out = 0;
}

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, Parser *p)
{
    (void)scanner;
    yysymbol_kind_t expected[YYNTOKENS], found = yypcontext_token(context);
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    bool expression = false, name = found == YYSYMBOL_ID || found == YYSYMBOL_NUM;
    char wanted[YYNTOKENS + 1];
    Buf text = {0};
    const Span *at = yypcontext_location(context);
    const char *symbol = found == YYSYMBOL_YYEMPTY ? "input" : symbol_text(found);
    SyntaxPlace place = {.token = symbol, .text = token_text(p, *at), .wanted = wanted};
    place.name = name || found == YYSYMBOL_STR;
    place.word = symbol[0] == '`' && symbol[1] >= 'a' && symbol[1] <= 'z';
    wanted_letters(expected, n, wanted);
    buf_printf(&text, "unexpected %s", symbol);
    if (name && at->end_col - at->col <= 40) buf_printf(&text, " `%s`", place.text);
    for (int i = 0; i < n; i++) expression |= expected[i] == YYSYMBOL_NUM;
    if (expression) {
        buf_printf(&text, ", expected an expression");
    } else {
        for (int i = 0, shown = 0; i < n && shown < 5; i++)
            if (worth_naming(expected[i]))
                buf_printf(&text, "%s%s", shown++ ? " or " : ", expected ",
                           symbol_text(expected[i]));
    }
    report_syntax_error(p, *at, text.at, &place);
    buf_free(&text);
    return 0;
}
