'use strict';

const parse = (load, text) => load('./src/csv.js').parse(text);
const parseAll = (load, texts) => texts.map((text) => load('./src/csv.js').parse(text));
const formatAll = (load, tables) => tables.map((rows) => load('./src/csv.js').format(rows));
const roundTrip = (load, rows) => {
  const { parse: read, format } = load('./src/csv.js');
  const written = format(rows);
  try {
    return { rows: read(written) };
  } catch (error) {
    return { written, name: error.name };
  }
};
const fault = (load, texts) =>
  texts.map((text) => {
    try {
      return { rows: load('./src/csv.js').parse(text) };
    } catch (error) {
      return { name: error.name, line: error.line };
    }
  });
const members = (load, text) => load('./src/members.js').readMembers(text);

module.exports = async ({ subject, assert }) => {
  assert.deepStrictEqual(
    await subject.run(parse, 'id,name\nk,Ada\r\nl,Bo\nm,Cy'),
    [['id', 'name'], ['k', 'Ada'], ['l', 'Bo'], ['m', 'Cy']],
    'LF and CRLF both end a row, even in one file',
  );
  assert.deepStrictEqual(
    await subject.run(parse, 'k,"Miller, ""Fritz"", jun.",x\nl,"a,b","""",z\n'),
    [['k', 'Miller, "Fritz", jun.', 'x'], ['l', 'a,b', '"', 'z']],
    'a quoted cell holds commas and doubled quotes',
  );
  assert.deepStrictEqual(
    await subject.run(parse, '"one\ntwo\n\nfour",k\n"Elm Road 5\r\nBack door",l\n'),
    [['one\ntwo\n\nfour', 'k'], ['Elm Road 5\r\nBack door', 'l']],
    'line breaks inside quotes stay as they are',
  );
  assert.deepStrictEqual(
    await subject.run(parse, 'a , b,  \n" c ",\t,d\n'),
    [['a ', ' b', '  '], [' c ', '\t', 'd']],
    'blanks belong to the cell',
  );
  assert.deepStrictEqual(
    await subject.run(parse, '007,1e3,true\nnull,-0,0x1F\n'),
    [['007', '1e3', 'true'], ['null', '-0', '0x1F']],
    'every cell stays text',
  );
  assert.deepStrictEqual(
    await subject.run(parseAll, ['a,b,\n1,,\n', 'x,', ',']),
    [[['a', 'b', ''], ['1', '', '']], [['x', '']], [['', '']]],
    'a comma at the end opens one more cell',
  );
  assert.deepStrictEqual(
    await subject.run(parseAll, ['a,b\n\nc,d\n\n\n', '\r\na,b\r\n\r\nc,d']),
    [[['a', 'b'], ['c', 'd']], [['a', 'b'], ['c', 'd']]],
    'empty lines are no rows',
  );
  assert.deepStrictEqual(
    await subject.run(parseAll, ['a\n""\nb\n', '""', 'c\n""']),
    [[['a'], [''], ['b']], [['']], [['c'], ['']]],
    'a quoted empty cell is a row of its own',
  );
  assert.deepStrictEqual(
    await subject.run(parseAll, ['\ufeff"no, or id",name\n1,Di\n', 'no,x\ufeffy\n\ufeff2,z\n']),
    [[['no, or id', 'name'], ['1', 'Di']], [['no', 'x\ufeffy'], ['\ufeff2', 'z']]],
    'a byte order mark is dropped at the very beginning only',
  );
  assert.deepStrictEqual(
    await subject.run(parse, '5" pipe,a""b\n6,c"d,e"\n'),
    [['5" pipe', 'a""b'], ['6', 'c"d', 'e"']],
    'a quote inside an unquoted cell is an ordinary character',
  );
  assert.deepStrictEqual(
    await subject.run(parseAll, ['', '\ufeff', '\n']),
    [[], [], []],
    'a file without characters has no rows',
  );
  assert.deepStrictEqual(
    await subject.run(parse, 'a,b,c\n1\n2,3,4,5\n'),
    [['a', 'b', 'c'], ['1'], ['2', '3', '4', '5']],
    'rows keep their own length',
  );
  assert.deepStrictEqual(
    await subject.run(fault, ['a,"b\nc,d\n', 'a\r\n\r\n"x\r\ny",1\r\n2,"z\r\nend']),
    [{ name: 'SyntaxError', line: 1 }, { name: 'SyntaxError', line: 5 }],
    'an unclosed quote names the line on which its cell began',
  );
  assert.deepStrictEqual(
    await subject.run(fault, ['"a"b,c\n', '"a" ,c\n', '"p","q\nr"s\n']),
    [{ name: 'SyntaxError', line: 1 }, { name: 'SyntaxError', line: 1 }, { name: 'SyntaxError', line: 1 }],
    'text after a closing quote is an error',
  );
  assert.deepStrictEqual(
    await subject.run(members, 'no,"first, last", note \n1,"Roe, Jo",x\n2\n'),
    [
      { no: '1', 'first, last': 'Roe, Jo', ' note ': 'x' },
      { no: '2', 'first, last': '', ' note ': '' },
    ],
    'members are still read by their headings',
  );
  assert.deepStrictEqual(
    await subject.run(formatAll, [[['a', 'b c', ' d '], ['', 'x;y', "it's"]]]),
    ['a,b c, d \r\n,x;y,it\'s\r\n'],
    'cells that need no quotes get none, and each row ends with CRLF',
  );
  assert.deepStrictEqual(
    await subject.run(formatAll, [[['5" pipe', 'n']], [['a,b', 'c']], [['l\nm', 'o\rp']]]),
    ['"5"" pipe",n\r\n', '"a,b",c\r\n', '"l\nm","o\rp"\r\n'],
    'a comma, a quote, a CR or an LF puts the cell in quotes',
  );
  assert.deepStrictEqual(
    await subject.run(formatAll, [[['']], [['k'], [''], [null]], [['', '']], []]),
    ['""\r\n', 'k\r\n""\r\n""\r\n', ',\r\n', ''],
    'a row of one empty cell is written as two quotes',
  );
  assert.deepStrictEqual(
    await subject.run(formatAll, [[[0, null, 12.5], ['u', undefined, -3]]]),
    ['0,,12.5\r\nu,,-3\r\n'],
    'numbers are written as text and nothing as an empty cell',
  );
  const table = [
    ['no', 'name', 'note'],
    ['1', 'Miller, "Fritz" and "Franz"', 'two\nlines'],
    ['2', 'a , b', ''],
    ['3', '\ufeff', 'Zoë,\n"Jr"'],
  ];
  assert.deepStrictEqual(await subject.run(roundTrip, table), { rows: table }, 'what was written reads back the same');
};
