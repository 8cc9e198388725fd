"""Makes YAQL expressions and records what the reference implementation makes of them.

Prepare a virtual environment of one's own, outside the checkout, with `yaql==3.2.0` and
`python-dateutil==2.9.0.post0` (Python 3.11). Then, with its interpreter:

    python bench/yaql-differential.py generate 5000 1 > records.jsonl   # COUNT SEED
    python bench/yaql-differential.py mutate 5000 1 packages/yaql/test/data/extra.jsonl > records.jsonl
    python bench/yaql-differential.py again < records.jsonl > stable.jsonl   # in a new process, with other hashes
    node bench/yaql-differential.ts records.jsonl

`generate` writes calls of every function the reference registers, with arguments of the declared types and of
others, nested; `mutate` swaps pieces between recorded expressions; `again` evaluates records once more and keeps those
with the same outcome, marking as `unordered` those whose lists only changed their order.
The form of records is that of `docs/reference/yaql.md`.
"""

import collections.abc
import datetime
import json
import random
import re
import signal
import sys
import types
import warnings

import yaql
from dateutil import tz
from yaql.language import exceptions, expressions, specs, utils, yaqltypes
from yaql.legacy import YaqlFactory as LegacyFactory
from yaql.legacy import create_context as legacy_context

warnings.simplefilter('ignore')

OPTIONS = {
    'yaql.limitIterators': 10000,
    'yaql.memoryQuota': 104857600,
    'yaql.convertTuplesToLists': True,
    'yaql.convertSetsToLists': True,
}


# --- values as records have them -----------------------------------------------------------------------------------


def decode(value):
    if isinstance(value, list):
        return [decode(x) for x in value]
    if not isinstance(value, dict):
        return value
    kind = value.get('$type')
    if kind is None:
        return {k: decode(v) for k, v in value.items()}
    if kind == 'int':
        return int(value['value'])
    if kind == 'float':
        return float(value['value'])
    if kind == 'tuple':
        return tuple(decode(x) for x in value['items'])
    if kind == 'set':
        return {freeze(decode(x)) for x in value['items']}
    if kind == 'map':
        return {freeze(decode(k)): decode(v) for k, v in value['entries']}
    if kind == 'iterator':
        return iter([decode(x) for x in value['items']])
    if kind == 'datetime':
        return datetime.datetime.fromisoformat(value['iso'])
    if kind == 'timespan':
        return datetime.timedelta(microseconds=int(value['microseconds']))
    if kind == 'regex':
        flags = (re.I if value.get('ignoreCase') else 0) | (re.M if value.get('multiLine') else 0)
        return re.compile(value['pattern'], flags | (re.S if value.get('dotAll') else 0) | re.U)
    raise ValueError(kind)


def freeze(value):
    return tuple(freeze(x) for x in value) if isinstance(value, list) else value


def encode(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= 2**53 - 1 else {'$type': 'int', 'value': str(value)}
    if isinstance(value, float):
        if value != value or value in (float('inf'), float('-inf')) or value.is_integer():
            return {'$type': 'float', 'value': repr(value)}
        return value
    if isinstance(value, list):
        return [encode(x) for x in value]
    if isinstance(value, tuple):
        return {'$type': 'tuple', 'items': [encode(x) for x in value]}
    if isinstance(value, collections.abc.Mapping):
        if all(isinstance(k, str) for k in value) and '$type' not in value:
            return {k: encode(v) for k, v in value.items()}
        return {'$type': 'map', 'entries': [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, collections.abc.Set):
        return {'$type': 'set', 'items': sorted((encode(x) for x in value), key=json.dumps)}
    if isinstance(value, datetime.datetime):
        return {
            '$type': 'datetime',
            'iso': value.isoformat(),
            'utcOffsetSeconds': value.utcoffset().total_seconds(),
        }
    if isinstance(value, datetime.timedelta):
        microseconds = value // datetime.timedelta(microseconds=1)
        return {'$type': 'timespan', 'microseconds': microseconds if abs(microseconds) <= 2**53 - 1 else str(microseconds)}
    if isinstance(value, re.Pattern):
        return {
            '$type': 'regex',
            'pattern': value.pattern,
            'ignoreCase': bool(value.flags & re.I),
            'multiLine': bool(value.flags & re.M),
            'dotAll': bool(value.flags & re.S),
        }
    if isinstance(value, yaql.language.contexts.ContextBase):
        return {'$type': 'context'}
    if isinstance(value, collections.abc.Iterator):
        return {'$type': 'iterator', 'items': [encode(x) for x in value]}
    if isinstance(value, collections.abc.Iterable):
        return {'$type': 'iterator', 'items': [encode(x) for x in value]}
    if callable(value):
        return {'$type': 'function'}
    return {'$type': 'object'}


# --- evaluation ------------------------------------------------------------------------------------------------------


class TooSlow(BaseException):
    pass


def too_slow(*_):
    raise TooSlow()


engines = {}


def engine_for(record):
    key = json.dumps(
        [
            record.get('factory'),
            record.get('context'),
            record.get('delegates'),
            record.get('contextDelegates'),
            record.get('contextOptions'),
            record.get('options'),
        ],
        sort_keys=True,
    )
    if key not in engines:
        factory = LegacyFactory if record.get('factory') == 'legacy' else yaql.YaqlFactory
        keywords = {} if record.get('factory') == 'legacy' else {'allow_delegates': record.get('delegates', False)}
        engine = factory(**keywords).create(record.get('options', {}))
        make = legacy_context if record.get('context') == 'legacy' else yaql.create_context
        context = make(delegates=record.get('contextDelegates', False), **record.get('contextOptions', {}))
        engines[key] = (engine, context)
    return engines[key]


def class_name(error):
    return 're.error' if isinstance(error, re.error) else type(error).__name__


def evaluate(record, seconds=5):
    """The record with its outcome; None where there is none that could be compared."""
    engine, context = engine_for(record)
    signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(seconds)
    try:
        context = context.create_child_context()
        for name, value in record.get('vars', {}).items():
            context[name] = decode(value)
        keywords = {'data': decode(record['data'])} if 'data' in record else {}
        outcome = {'result': encode(engine(record['expr']).evaluate(context=context, **keywords))}
        json.dumps(outcome, allow_nan=False).encode()
    except (TooSlow, MemoryError, RecursionError, UnicodeEncodeError):
        return None
    except Exception as error:
        if isinstance(error, exceptions.WrappedException):
            error = error.wrapped
        outcome = {'error': {'class': class_name(error), 'message': str(error)[:200]}}
    finally:
        signal.alarm(0)
    return {**record, **outcome}


# --- expressions -----------------------------------------------------------------------------------------------------

STRINGS = [
    "''", "'a'", "'abc'", "'A b  c'", "' x '", "'12'", "' -7 '", "'4.2'", "'1e3'", "'nan'", "'inf'", "'1_000'",
    "'ß'", "'İi'", "'é'", "'e\\u0301'", "'😀x'", "'ǆ'", "'Σας'", "'a,b,,c'", "'a\\nb\\r\\nc'", "'\\t'", "'aXbXc'",
    "'٣'", "'½'", "'\\u00a0x\\u2003'", "'\\x1c'", "'a.b*c'", "'[a]'", "'\\\\'", "'\\'q\\''", "'true'", "'null'",
    "'abcabcabc'", "'2016-02-29'", "'2016-02-29T12:30:15.5+03:00'", "'%Y-%m-%d'", "'%d/%m/%y %H:%M:%S'", "'29/02/16 01:02:03'",
    "'key'", "'a'", "'b'", "abc", "a", "b", "'\\u2028'", "'x\\0y'", "'0x1f'", "'0b1'", "'+5'", "'--5'", "'5 '", "'1,2'",
]
PATTERNS = [
    "'a'", "'(a)(b)?'", "'(?P<n>b+)'", "'x*'", "'^a|c$'", "'[^,]+'", "'\\\\d+'", "'\\\\w'", "'\\\\s+'", "'(?i)ABC'", "'a{2,}'",
    "'(a|ab)(c|bcd)?'", "'(?<=a)b'", "'(?!b).'", "'\\\\b'", "'.'", "'(.)\\\\1'", "'['", "'(?P<n>a)(?P=n)'", "''", "'a{,2}'",
    "'(?:a)+?'", "'\\\\.'", "'[a-c]'", "'(b)|(c)'", "'$'", "'\\\\Z'", "'(?m)^b'", "'(?s)a.b'", "'[[:alpha:]]'", "'é'", "'(?x) a b'",
    "'a**'", "'a++'", "'(?>a+)b'", "'\\\\N'", "'\\\\q'", "'(?(1)a|b)'", "'(a)?(?(1)b|c)'", "'[\\\\d-x]'", "'[z-a]'", "'\\\\101'", "'\\\\8'",
    "'(?<=a+)b'", "'(?<=ab|cd)e'", "'(?-i:A)'", "'(?i:A)b'", "'{'", "'a{'", "'a{1'", "'a{1,x}'", "')'", "'('", "'*'", "'a|*'", "'[]a]'", "'[^]a]'",
]
REPLACEMENTS = ["'-'", "''", "'\\\\1'", "'<\\\\g<0>>'", "'\\\\g<n>'", "'$&'", "'\\\\n'", "'\\\\q'", "'\\\\2'", "'\\\\0'", "'\\\\\\\\'", "'\\\\g<1'", "'\\\\10'", "'\\\\g<9>'"]
INTS = ['0', '1', '2', '3', '5', '-1', '-2', '-3', '7', '10', '-10', '100', '63', '64', '-64', '9007199254740993', '-9007199254740993',
        '4294967296', '123456789012345678901234567890', '-123456789012345678901234567890', '255', '-255', '1000', '007']
SMALL = ['0', '1', '2', '3', '-1', '-2', '5', '-5']
FLOATS = ['0.0', '1.0', '2.5', '3.5', '-2.5', '0.1', '1.005', '2.675', '-0.5', '1.5', '100.0', '1e5', '0.00001', '12345678901234567890.0',
          '9007199254740992.0', '0.30000000000000004', '123456.789', '-0.0', "float('nan')", "float('inf')", "float('-inf')", '10000000000000000.0', '9999999999999998.0']
KEYS = ['a', 'b', 'c', "'a b'", '1', '2', '1.0', 'true', 'null', '[1, 2]', "''", '-1', 'false', '0', 'key']


class Generator:
    def __init__(self, seed, extra_names=()):
        self.random = random.Random(seed)
        _, context = engine_for({'options': OPTIONS})
        self.functions = []
        for name, definitions in all_functions(context).items():
            for definition in definitions:
                if not name.startswith('#') and not name.startswith('*') and re.match(r'^[a-z]\w*$', name):
                    self.functions.append((name, definition))
        self.functions.sort(key=lambda f: (f[0], sorted(str(k) for k in f[1].parameters), str(f[1].is_method)))
        self.functions = [f for f in self.functions if f[0] not in ('now', 'random', 'localtz')]
        self.by_name = {}
        for name, definition in self.functions:
            self.by_name.setdefault(name, []).append(definition)
        self.names = sorted(self.by_name)

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, share):
        return self.random.random() < share

    def any(self, depth):
        kind = self.pick(['int', 'int', 'number', 'string', 'string', 'bool', 'null', 'list', 'list', 'dict', 'dict', 'set', 'iterator',
                          'regex', 'datetime', 'timespan', 'call', 'call', 'method', 'method', 'variable', 'operator', 'operator', 'view', 'context'])
        return getattr(self, kind)(depth)

    def int(self, depth):
        if depth > 0 and self.chance(0.15):
            return self.pick([
                lambda: f'{self.paren("string", depth)}.len()',
                lambda: f'int({self.any(depth - 1)})',
                lambda: f'({self.int(depth - 1)} {self.pick(["+", "-", "*", "/", "mod"])} {self.int(depth - 1)})',
                lambda: f'{self.paren("collection", depth)}.len()',
                lambda: f'{self.paren("collection", depth)}.count()',
            ])()
        return self.pick(SMALL if self.chance(0.8) else INTS)

    def small(self, depth):
        return self.pick(SMALL)

    def number(self, depth):
        if depth > 0 and self.chance(0.15):
            return f'({self.number(depth - 1)} {self.pick(["+", "-", "*", "/", "mod"])} {self.number(depth - 1)})'
        return self.pick(FLOATS) if self.chance(0.5) else self.pick(INTS)

    def string(self, depth):
        if depth > 0 and self.chance(0.12):
            return f'str({self.any(depth - 1)})'
        return self.pick(STRINGS)

    def bool(self, depth):
        if depth > 0 and self.chance(0.4):
            return f'({self.any(depth - 1)} {self.pick(["=", "!=", "<", ">", "<=", ">=", "in", "and", "or"])} {self.any(depth - 1)})'
        return self.pick(['true', 'false'])

    def null(self, depth):
        return 'null'

    def elements(self, depth):
        count = self.pick([0, 1, 2, 3, 3, 4])
        style = self.pick(['int', 'string', 'number', 'any', 'dict', 'list', 'scalar', 'pair'])
        return [getattr(self, style)(depth - 1) if depth > 0 else self.scalar(0) for _ in range(count)]

    def scalar(self, depth):
        return self.pick([self.int, self.string, self.number, self.bool, self.null])(0)

    def pair(self, depth):
        return f'[{self.scalar(0)}, {self.any(max(depth, 0)) if depth > 0 else self.scalar(0)}]'

    def list(self, depth):
        return '[' + ', '.join(self.elements(depth)) + ']'

    def dict(self, depth):
        count = self.pick([0, 1, 2, 2, 3])
        return '{' + ', '.join(f'{self.pick(KEYS)} => {self.any(depth - 1) if depth > 0 else self.scalar(0)}' for _ in range(count)) + '}'

    def view(self, depth):
        return self.dict(depth) + self.pick(['.keys()', '.values()', '.items()'])

    def context(self, depth):
        return self.pick([f'let({self.scalar(0)})', f'let(x => {self.any(depth - 1) if depth > 0 else 1})', f'with({self.scalar(0)}, {self.scalar(0)})', 'def(f, $ + 1)'])

    def set(self, depth):
        return self.pick([f'set({", ".join(self.elements(depth))})', f'{self.list(depth)}.toSet()'])

    def iterator(self, depth):
        return self.pick([
            lambda: f'{self.list(depth)}.select($)',
            lambda: f'range({self.small(0)})',
            lambda: f'range({self.small(0)}, {self.small(0)}, {self.small(0)})',
            lambda: f'{self.list(depth)}.where({self.lambda_(depth - 1)})',
            lambda: f'{self.list(depth)}.orderBy({self.lambda_(depth - 1)})',
            lambda: f'{self.list(depth)}.memorize()',
            lambda: 'sequence().limit(4)',
            lambda: f'{self.list(depth)}.reverse()',
            lambda: f'{self.list(depth)}.groupBy({self.lambda_(depth - 1)})',
            lambda: f'{self.list(depth)}.enumerate()',
        ])()

    def collection(self, depth):
        return self.pick([self.list, self.list, self.list, self.iterator, self.set, self.dict, self.view])(depth)

    def sequence(self, depth):
        return self.pick([self.list, self.list, self.iterator])(depth)

    def regex(self, depth):
        flags = self.pick(['', '', '', ', true', ', false, true', ', multiLine => true', ', dotAll => true', ', ignoreCase => true'])
        return f'regex({self.pick(PATTERNS)}{flags})'

    def datetime(self, depth):
        return self.pick([
            lambda: f'datetime({self.pick(["2016", "1", "9999", "2000", "0"])}, {self.pick(["1", "2", "12", "13"])}, {self.pick(["1", "29", "31", "30"])})',
            lambda: f'datetime(2016, 2, 29, {self.pick(["0", "23", "24"])}, {self.pick(["0", "59", "60"])}, {self.pick(["0", "30", "61"])}, {self.pick(["0", "999999", "1000000", "5"])})',
            lambda: f'datetime(2020, 3, 4, 5, 6, 7, offset => timespan(hours => {self.pick(["3", "-5", "0", "23", "14", "-12"])}))',
            lambda: f'datetime({self.pick(["0", "1.5", "-1", "1456753559", "1e3", "253402300800", "-62135596801", "1456753559.123456"])})',
            lambda: "datetime('2016-02-29T12:30:15.5+03:00')",
            lambda: f"datetime('29/02/16 01:02:03', '%d/%m/%y %H:%M:%S')",
        ])()

    def timespan(self, depth):
        unit = self.pick(['days', 'hours', 'minutes', 'seconds', 'milliseconds', 'microseconds'])
        return self.pick([
            f'timespan({unit} => {self.pick(["1", "-1", "90", "0", "1.5", "100000", "-3", "999999999", "1000000000"])})',
            f'timespan({self.pick(["1", "-2", "0"])}, {self.pick(["1", "25", "-1"])}, {self.pick(["0", "61"])})',
            'timespan()',
        ])

    def variable(self, depth):
        return self.pick(['$', '$', '$.a', '$.list', '$.d', '$x', '$.nodes', '$.s', '$.n', '$.missing', '$1', '$2', '$.nodes.name', '$.nodes.roles', '$.f', '$.list[0]', "$.d['a']"])

    def lambda_(self, depth):
        depth = max(depth, 0)
        return self.pick([
            '$', '$', '$ + 1', '$ > 1', '$ * 2', '$.a', '$.len()', 'str($)', 'not $', '$1 + $2', '$[0]', '$ mod 2', '-$', 'true', 'false', '$1', '$2', '[$, $]',
            '$ = 1', '$.name', 'isString($)', '$1 > $2', 'null', '[$]', '{k => $}', '$.toUpper()', '[$1, $2]', '$.value', '$2.value', '$ in [1, 2]', '$ < 3',
            self.any(depth - 1) if depth > 0 else '1', self.scalar(0),
        ])

    def rule(self, depth):
        return f'{self.bool(depth)} => {self.any(depth - 1) if depth > 0 else self.scalar(0)}'

    def paren(self, kind, depth):
        text = getattr(self, kind)(max(depth - 1, 0))
        return text if re.match(r"^[\w$'\[{(][^ ]*$", text) and not text[0].isdigit() and self.chance(0.6) else f'({text})'

    def argument(self, value_type, depth):
        if self.chance(0.1):
            return self.any(depth - 1) if depth > 0 else self.scalar(0)
        t = value_type
        depth = max(depth - 1, 0)
        if getattr(t, 'nullable', False) and self.chance(0.06):
            return 'null'
        if isinstance(t, yaqltypes.Lambda):
            return self.lambda_(depth)
        if isinstance(t, yaqltypes.MappingRule):
            return self.rule(depth)
        if isinstance(t, yaqltypes.YaqlExpression):
            return self.any(depth)
        if isinstance(t, (yaqltypes.Keyword, yaqltypes.StringConstant)):
            return self.pick(['a', 'b', 'len', 'name', 'f', "'x y'"])
        if isinstance(t, yaqltypes.Constant):
            return self.scalar(0)
        if isinstance(t, yaqltypes.String):
            return self.string(depth)
        if isinstance(t, yaqltypes.Integer):
            return self.int(depth)
        if isinstance(t, yaqltypes.Number):
            return self.number(depth)
        if isinstance(t, yaqltypes.DateTime):
            return self.datetime(depth)
        if isinstance(t, yaqltypes.Iterator):
            return self.iterator(depth)
        if isinstance(t, yaqltypes.Iterable):
            return self.collection(depth)
        if isinstance(t, yaqltypes.Sequence):
            return self.list(depth)
        if isinstance(t, yaqltypes.SmartTypeAggregation):
            return self.argument(self.pick(list(t.types)), depth + 1)
        if isinstance(t, yaqltypes.NotOfType):
            return self.any(depth)
        if isinstance(t, yaqltypes.PythonType):
            wanted = t.python_type if isinstance(t.python_type, tuple) else (t.python_type,)
            wanted = self.pick(wanted)
            kind = {
                int: 'int', float: 'number', str: 'string', bool: 'bool', list: 'list', tuple: 'list', dict: 'dict', set: 'set', frozenset: 'set',
                datetime.datetime: 'datetime', datetime.timedelta: 'timespan', type(re.compile('')): 'regex',
                utils.MappingType: 'dict', utils.SetType: 'set', utils.SequenceType: 'list', utils.IteratorType: 'iterator',
            }.get(wanted, 'any')
            return getattr(self, kind)(depth)
        return self.any(depth)

    def invocation(self, name, definition, depth):
        """A call with arguments as declared, some left out, some by name, a few too many."""
        visible = [
            (key, parameter)
            for key, parameter in definition.parameters.items()
            if not isinstance(parameter.value_type, yaqltypes.HiddenParameterType)
        ]
        positional = sorted((p for k, p in visible if p.position is not None and k not in ('*', '**')), key=lambda p: p.position)
        named = [p for k, p in visible if p.position is None and k not in ('*', '**')]
        texts, by_name = [], False
        for parameter in positional:
            if parameter.default is not specs.NO_DEFAULT if hasattr(specs, 'NO_DEFAULT') else parameter.default is not utils.NO_DEFAULT:
                if self.chance(0.45):
                    if self.chance(0.4):
                        by_name = True
                        continue
                    break
            text = self.argument(parameter.value_type, depth)
            if by_name or (texts and self.chance(0.08)):
                by_name = True
                text = f'{camel(parameter.alias or parameter.name)} => {text}'
            texts.append(text)
        rest = dict(visible).get('*')
        if rest is not None and not by_name:
            texts += [self.argument(rest.value_type, depth) for _ in range(self.pick([0, 1, 1, 2, 2, 3]))]
        for parameter in named:
            if self.chance(0.5):
                texts.append(f'{camel(parameter.alias or parameter.name)} => {self.argument(parameter.value_type, depth)}')
        keywords = dict(visible).get('**')
        if keywords is not None:
            texts += [f'{self.pick(["a", "x", "b"])} => {self.argument(keywords.value_type, depth)}' for _ in range(self.pick([0, 1, 2]))]
        if self.chance(0.03):
            texts.append(self.scalar(0))
        if texts and self.chance(0.03):
            texts.pop(self.random.randrange(len(texts)))
        as_method = definition.is_method and (not definition.is_function or self.chance(0.5))
        if self.chance(0.02):
            as_method = not as_method
        if as_method and texts and '=>' not in texts[0][:12]:
            receiver = texts.pop(0)
            if not re.match(r"^(\$\w*|[a-zA-Z]\w*|'[^']*'|\[[^\]]*\]|\{[^}]*\})$", receiver) or receiver.startswith('{'):
                receiver = f'({receiver})'
            return f'{receiver}.{name}({", ".join(texts)})'
        return f'{name}({", ".join(texts)})'

    def call(self, depth):
        if depth <= 0:
            return self.scalar(0)
        name = self.pick(self.names)
        return self.invocation(name, self.pick(self.by_name[name]), depth)

    def method(self, depth):
        if depth <= 0:
            return self.scalar(0)
        text = self.paren('collection', depth)
        for _ in range(self.pick([1, 1, 2, 3])):
            name = self.pick(self.names)
            definition = self.pick(self.by_name[name])
            call = self.invocation(name, definition, depth)
            start = call.find(f'{name}(')
            text += self.pick(['.', '.', '.', '?.']) + call[start:]
        return text

    def operator(self, depth):
        if depth <= 0:
            return self.scalar(0)
        same = self.pick(['int', 'number', 'string', 'list', 'dict', 'set', 'timespan', 'datetime', 'any', 'any', 'any'])
        left, right = getattr(self, same)(depth - 1), getattr(self, same if self.chance(0.7) else 'any')(depth - 1)
        op = self.pick(['+', '-', '*', '/', 'mod', '=', '!=', '<', '>', '<=', '>=', 'in', 'and', 'or', '=~', '!~', '->', 'index', 'unary', 'attr', 'regex', 'prec'])
        if op == 'index':
            return f'({left})[{self.pick([right, self.small(0), self.pick(KEYS)])}{self.pick(["", "", ", 5"])}]'
        if op == 'unary':
            return f'{self.pick(["-", "+", "not ", "--", "not -"])}{left}'
        if op == 'attr':
            return f'({left}){self.pick([".", "?."])}{self.pick(["a", "b", "days", "year", "utc", "offset", "timestamp", "weekday", "hours", "seconds", "microseconds", "date", "time", "name", "value", "month", "milliseconds"])}'
        if op == 'regex':
            return f'{self.string(0)} {self.pick(["=~", "!~"])} {self.pick([self.pick(PATTERNS), self.regex(0)])}'
        if op == 'prec':
            return ' '.join([self.scalar(0), self.pick(['+', '-', '*', '/', '=', '<', 'and', 'or', 'in', 'mod']), self.pick(['', '-', 'not ', '+']) + self.scalar(0), self.pick(['+', '-', '*', '/', '=', '<', 'and', 'or', 'in', 'mod']), self.scalar(0)])
        return self.pick([f'{left} {op} {right}', f'({left}) {op} ({right})'])

    def focused(self, depth):
        """Special shapes that plain typed generation reaches too seldom."""
        return self.pick([
            lambda: f'{self.string(0)}.replace({self.regex(0)}, {self.pick(REPLACEMENTS)})',
            lambda: f'{self.regex(0)}.replace({self.string(0)}, {self.pick(REPLACEMENTS)}, {self.small(0)})',
            lambda: f'{self.regex(0)}.searchAll({self.string(0)}, {self.pick(["$", "$.value", "[$.start, $.end]", "$2.value", "$n.value"])})',
            lambda: f'{self.regex(0)}.search({self.string(0)}, {self.pick(["$", "$.value", "[$.start, $.end]", "$2", "$n.value"])})',
            lambda: f'{self.regex(0)}.split({self.string(0)}, {self.small(0)})',
            lambda: f'{self.regex(0)}.replaceBy({self.string(0)}, {self.pick(["$.value", "$.value + $.value", "str($.start)", "$"])})',
            lambda: f'str({self.any(depth)})',
            lambda: f'str({self.number(1)})',
            lambda: f'round({self.number(0)}, {self.small(0)})',
            lambda: f'{self.number(0)} {self.pick(["/", "mod", "*", "+", "-", "=", "<", ">="])} {self.number(0)}',
            lambda: f'pow({self.number(0)}, {self.pick(["2", "-1", "0.5", "0", "3", "-2", "10", "1.5"])})',
            lambda: f'{self.datetime(0)}.format({self.pick(["%Y-%m-%d", "%j %U %W %w %a %A %b %B", "%y %I %p %f %z %Z", "%c", "%x %X", "%%", "%G-%V-%u", "%e", "%s", "%D %T %R %n%t", "%Q", "%"]) !r})',
            lambda: f"datetime({self.string(0)}, {self.string(0)})",
            lambda: f"datetime('{self.pick(['2016-12', '20160229', '2016-02-30', '2016-1-2', '2016-02-29 12:30', '2016-02-29T12:30Z', '2016-02-29T1230', '20160229T123015', '2016-02-29 12:30:15,5', '2016-060', '2016-W09-1', '2016-02-29T24:00', '2016-02-29T12:30:15.1234567', '2016/02/29', '2016-02-29T12:30+0300', '2016-02-29T12:30-03', '', 'x', '2016-02-29T12', '2016-02-29 12:30 UTC'])}')",
            lambda: f'{self.datetime(0)} {self.pick(["+", "-", "<", "=", ">"])} {self.pick([self.datetime(0), self.timespan(0)])}',
            lambda: f'{self.timespan(0)} {self.pick(["+", "-", "*", "/", "<", "="])} {self.pick([self.timespan(0), self.number(0)])}',
            lambda: f'{self.datetime(0)}.replace({self.pick(["year => 2017", "month => 13", "day => 30", "hour => 5", "offset => timespan(hours => 2)", "microsecond => 7", "2015", "year => 2015, day => 1"])})',
            lambda: f'({self.dict(2)}).mergeWith({self.dict(2)}{self.pick(["", ", $1", ", $1 + $2", ", $2, $1", ", maxLevels => 1", ", itemMerger => $1", ", listMerger => $2"])})',
            lambda: f'{self.list(2)}.groupBy({self.lambda_(1)}, {self.lambda_(1)}, {self.lambda_(1)})',
            lambda: f'{self.list(2)}.orderBy({self.lambda_(1)}).thenByDescending({self.lambda_(1)})',
            lambda: f'{self.list(1)}.aggregate({self.pick(["$1 + $2", "$1 * $2", "[$1, $2]", "max($1, $2)", "$2"])}{self.pick(["", ", 0", ", null", ", []"])})',
            lambda: f'let(x => {self.any(2)}) -> [$x, $x]',
            lambda: f'let({self.any(1)}, y => {self.any(1)}) -> {self.pick(["$1 = $y", "[$1, $y]", "$ + $y"])}',
            lambda: f'def(f, {self.lambda_(2)}) -> f({self.any(1)})',
            lambda: f'{self.list(2)}.unpack({self.pick(["a", "a, b", "", "x, y, z"])}) -> {self.pick(["$a", "[$a, $b]", "$1", "[$x, $y, $z]"])}',
            lambda: f'{self.string(0)}.{self.pick(["substring", "indexOf", "lastIndexOf"])}({self.pick([self.small(0), self.string(0)])}, {self.small(0)}{self.pick(["", ", " + self.small(0)])})',
            lambda: f'{self.list(1)}.{self.pick(["insert", "replace", "delete", "insertMany", "replaceMany", "splitAt", "slice", "skip", "limit"])}({self.small(0)}{self.pick(["", ", " + self.any(1), ", " + self.list(1) + ", " + self.small(0)])})',
            lambda: f'call({self.pick(self.names)}, {self.list(2)}, {self.dict(1)}{self.pick(["", ", " + self.any(1)])})',
            lambda: f'({self.any(2)}).assert({self.lambda_(1)}{self.pick(["", ", boo"])})',
            lambda: f'{self.list(1)} {self.pick(["=", "<", "+", "!=", "in", "*"])} {self.collection(1)}',
            lambda: f'generate({self.small(0)}, $ < 5, $ + {self.pick(["1", "2"])}{self.pick(["", ", $ * 2", ", decycle => true"])})',
            lambda: f'generateMany({self.any(1)}, {self.pick(["[]", "$data.get($, [])", "[$ / 2].where($ > 0)"])}{self.pick(["", ", depthFirst => true", ", $ , true"])})',
        ])()

    def expression(self):
        depth = self.pick([1, 2, 2, 3, 3])
        kind = self.random.random()
        if kind < 0.4:
            name, definition = self.pick(self.functions)
            return self.invocation(name, definition, depth)
        if kind < 0.55:
            return self.method(depth)
        if kind < 0.7:
            return self.operator(depth)
        if kind < 0.93:
            return self.focused(depth)
        return self.any(depth)


def all_functions(context):
    found = {}
    while context is not None:
        for name, definitions in getattr(context, '_functions', {}).items():
            found.setdefault(name, []).extend(definitions[0] if isinstance(definitions, tuple) else definitions)
        context = context.parent
    return found


def camel(name):
    parts = name.rstrip('_').split('_')
    return parts[0] + ''.join(p.title() for p in parts[1:])


DATA = [
    {
        'a': 1, 'b': [1, 2], 'list': [3, 1, 2], 'd': {'a': 1, 'b': {'c': 2}}, 's': 'abc', 'n': None, 'f': 2.5,
        'nodes': [
            {'name': 'n1', 'roles': ['controller', 'mongo'], 'id': 2, 'a': 1},
            {'name': 'n2', 'roles': ['compute'], 'id': 1, 'a': None},
            {'name': 'n3', 'roles': [], 'id': 3, 'a': 'x'},
        ],
    },
    [3, 1, 2], 'abc', None, 5, [], {}, [{'a': 1}, {'a': 2}], ['b', 'a', 'é'],
    {'$type': 'float', 'value': '2.0'}, [[1, 2], [3]], {'$type': 'map', 'entries': [[1, 'x'], [None, 'y']]},
]


def records_of(generator, count):
    for index in range(count):
        record = {'id': f'g{index}', 'expr': generator.expression(), 'options': OPTIONS}
        if '$' in record['expr'] or generator.chance(0.05):
            record['data'] = DATA[0] if generator.chance(0.7) else generator.pick(DATA)
        if generator.chance(0.05):
            record['options'] = {**OPTIONS, 'yaql.convertInputData': False}
        elif generator.chance(0.03):
            record['options'] = {**OPTIONS, 'yaql.convertTuplesToLists': False}
        elif generator.chance(0.03):
            record['options'] = {}
        elif generator.chance(0.03):
            record['options'] = {**OPTIONS, 'yaql.iterableDicts': True}
        elif generator.chance(0.03):
            record['options'] = {**OPTIONS, 'yaql.limitIterators': 2}
        yield record


TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\$\w*|\w+\(|\w+|\s+|[^\w\s]", re.S)


def mutations_of(generator, count, files):
    sources = [json.loads(line) for file in files for line in open(file, encoding='utf8')]
    sources = [s for s in sources if 'mode' not in s]
    pool = [t for s in sources for t in TOKEN.findall(s['expr'])]
    names = re.compile(r'\b(now|random|localtz)\b')
    made = 0
    while made < count:
        source = generator.pick(sources)
        tokens = TOKEN.findall(source['expr'])
        for _ in range(generator.pick([1, 1, 2, 3])):
            if not tokens:
                break
            at = generator.random.randrange(len(tokens))
            how = generator.random.random()
            if how < 0.35:
                kind = tokens[at]
                same = [t for t in generator.random.sample(pool, 60) if t.endswith('(') == kind.endswith('(') and t[0].isalnum() == kind[0].isalnum() and (t[0] in '\'"') == (kind[0] in '\'"')]
                tokens[at] = generator.pick(same) if same else kind
            elif how < 0.6 and re.match(r"^(\d+|'.*'|\".*\"|\$\w*|\w+)$", tokens[at], re.S):
                tokens[at] = generator.pick([generator.any(1), generator.scalar(0), f'({generator.any(2)})'])
            elif how < 0.7:
                del tokens[at]
            elif how < 0.8:
                tokens.insert(at, generator.pick(pool))
            elif how < 0.9:
                name, definition = generator.pick(generator.functions)
                call = generator.invocation(name, definition, 1)
                tokens.append('.' + call[call.find(name + '('):])
            else:
                tokens = ['('] + tokens + [')', ' ', generator.pick(['+', '-', '*', '=', '<', 'in', 'and', 'or', '.', '->']), ' ', generator.any(1)]
        text = ''.join(tokens)
        if names.search(text) or 'sequence(' in text and '.limit' not in text or len(text) > 400:
            continue
        record = {k: v for k, v in source.items() if k not in ('result', 'error', 'unordered', 'test', 'section')}
        made += 1
        yield {**record, 'id': f'm{made}', 'expr': text}


def sorted_form(value):
    if isinstance(value, list):
        return sorted((sorted_form(x) for x in value), key=json.dumps)
    return {k: sorted_form(v) for k, v in value.items()} if isinstance(value, dict) else value


def main():
    mode = sys.argv[1]
    if mode == 'again':
        for line in sys.stdin:
            record = json.loads(line)
            again = evaluate({k: v for k, v in record.items() if k not in ('result', 'error')})
            if again is None:
                continue
            if record.get('error', {}).get('class') == again.get('error', {}).get('class') and record.get('result') == again.get('result'):
                print(json.dumps(record))
            elif 'result' in record and 'result' in again and sorted_form(record['result']) == sorted_form(again['result']):
                print(json.dumps({**record, 'unordered': True}))
        return
    generator = Generator(int(sys.argv[3]))
    count = int(sys.argv[2])
    records = records_of(generator, count) if mode == 'generate' else mutations_of(generator, count, sys.argv[4:])
    for record in records:
        done = evaluate(record)
        if done is not None:
            print(json.dumps(done, ensure_ascii=True))


if __name__ == '__main__':
    main()
