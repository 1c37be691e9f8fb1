'use strict';

const GOOD_VTY = ['line vty 0 4', ' access-class MGMT in', ' exec-timeout 9 30', ' transport input ssh'];
const MGMT = ['ip access-list standard MGMT', ' permit 10.0.0.0 0.255.255.255'];

module.exports = async ({ subject, assert }) => {
  /** Audit lines of config; an issue becomes "line code". */
  const audit = async (lines, end = '\n') => {
    const { value, error } = await subject.attempt((load, text) => load('./src/audit.js').audit(text), lines.join(end) + end);
    if (error) return error.name;
    return value && Array.isArray(value) ? value.map((issue) => issue && `${issue.line} ${issue.code}`) : value;
  };
  /** Interfaces with these addresses: interface n stands at line 2n - 1, its address at line 2n. */
  const interfaces = (...addresses) =>
    audit(addresses.flatMap((address, index) => [`interface Vlan${index + 1}`, ` ip address ${address}`]));

  assert.deepStrictEqual(
    [await audit([...MGMT, '!', ...GOOD_VTY, 'line vty 5 15', ' access-class MGMT in', ' exec-timeout 0 0',
      ' transport input ssh']),
      await audit([...MGMT, 'line vty 0 4'])],
    [[], ['3 vty-no-filter', '3 vty-no-timeout']], 'a complete block is fine, an empty one is not');
  assert.deepStrictEqual(
    await audit([...MGMT, 'line con 0', ' exec-timeout 5 0', 'line vty 0 4', ' access-class MGMT in', ' transport input ssh',
      'line aux 0', ' exec-timeout 1 0']),
    ['5 vty-no-timeout'], 'the timeout of another line is not its own');
  assert.deepStrictEqual(
    await audit([...MGMT, ...GOOD_VTY, 'line vty 5 9', ' exec-timeout 3 0', ' transport input ssh', 'line vty 10 15',
      ' transport input telnet', ' access-class MGMT in']),
    ['7 vty-no-filter', '10 vty-no-timeout', '10 vty-telnet'], 'every block is looked at');
  assert.deepStrictEqual(
    await audit([...MGMT, 'line vty 0 4', ' access-class MGMT out', ' exec-timeout 9 0', ' transport input ssh', 'line vty 5 6',
      ' access-class MGMT in vrf-also', ' exec-timeout 9 0']),
    ['3 vty-no-filter'], 'an outbound list keeps nobody out');
  assert.deepStrictEqual(
    await audit([...MGMT, ...['ssh telnet', 'all', 'telnet', 'ssh'].flatMap((input, index) =>
      [`line vty ${index} ${index}`, ' access-class MGMT in', ` transport input ${input}`, ' exec-timeout 1 0'])]),
    ['3 vty-telnet', '7 vty-telnet', '11 vty-telnet'], 'telnet in any place of the list, and all');
  assert.deepStrictEqual(
    await audit([...MGMT, ...GOOD_VTY, ' transport output telnet ssh', ' no transport input telnet']), [],
      'going out by telnet is not coming in');
  assert.deepStrictEqual(
    await audit([...MGMT, 'line vty 0 4', ' no access-class MGMT in', ' no exec-timeout', ' transport input ssh']),
    ['3 vty-no-filter', '3 vty-no-timeout'], 'a command taken back is not given');

  assert.deepStrictEqual(
    await interfaces('10.1.1.1 255.255.255.0', '10.1.3.1 255.255.255.0', '10.1.1.1 255.255.255.128',
      '10.1.1.10 255.255.255.0 secondary'),
    ['6 address-twice', '8 networks-overlap'], 'an address twice is not an overlap as well');
  assert.deepStrictEqual(
    await interfaces('10.1.1.1 255.255.255.0', '10.1.1.2 255.255.255.0', '10.1.11.1 255.255.255.0',
      '10.1.11.7 255.255.255.0 secondary',
      '10.1.13.200 255.255.255.128', '10.1.13.130 255.255.255.128'),
    ['4 networks-overlap', '8 networks-overlap', '12 networks-overlap'], 'two addresses of one network overlap');
  assert.deepStrictEqual(
    [await interfaces('172.16.0.1 255.255.240.0', '172.16.15.1 255.255.255.0', '172.16.17.1 255.255.255.0', '172.0.0.1 255.0.0.0'),
      await interfaces('192.0.2.0 255.255.255.254', '192.0.2.2 255.255.255.254', '192.0.2.4 255.255.255.252',
        '192.0.2.5 255.255.255.254',
        '192.0.2.8 255.255.255.255', '192.0.2.7 255.255.255.255', '192.0.2.13 255.255.255.255', '192.0.2.12 255.255.255.254')],
    [['4 networks-overlap', '8 networks-overlap'], ['8 networks-overlap', '12 networks-overlap', '16 networks-overlap']],
    'overlaps follow the mask, not the dots');
  assert.deepStrictEqual(
    await audit(['interface Vlan1', ' description was ip address 10.9.0.1 255.255.255.0', ' ip address dhcp', 'interface Vlan2',
      ' no ip address', 'interface Vlan3',
      ' ip address 10.9.0.1 255.255.255.0', 'interface Vlan4', ' no ip address 10.9.0.1 255.255.255.0',
        'ip route 10.9.0.0 255.255.0.0 10.9.0.1']),
    [], 'only addresses in force count');

  assert.deepStrictEqual(
    await audit(['interface Vlan1', ' ip access-group EDGE in', ' ip access-group 101 out', ' ip policy route-map R1',
      'line vty 0 4', ' access-class 12 in',
      ' exec-timeout 1 0', ' transport input ssh']),
    ['2 undefined', '3 undefined', '4 undefined', '6 undefined'], 'every list and map that is missing');
  assert.deepStrictEqual(
    await audit(['interface Vlan1', ' ip access-group EDGE in', ' ip access-group 101 out', ' ip policy route-map R1',
      'access-list 101 permit ip any any',
      'ip access-list extended EDGE', ' permit ip any any', 'route-map R1 permit 10', ' match ip address EDGE 101']), [],
        'definitions may follow, by number or name');
  assert.deepStrictEqual(
    await audit(['ip prefix-list NORTH seq 5 permit 10.0.0.0/8', 'ip access-list standard SOUTH', ' permit any',
      'route-map WEST permit 10', ' match ip address NORTH',
      ' match ip address prefix-list SOUTH', ' match ip address prefix-list NORTH', 'router bgp 1',
        ' neighbor 10.0.0.2 prefix-list WEST in',
      ' neighbor 10.0.0.2 route-map NORTH out', ' neighbor 10.0.0.2 route-map WEST in',
      ' neighbor 10.0.0.2 prefix-list NORTH out', ' neighbor 10.0.0.2 remote-as 2']),
    ['5 undefined', '6 undefined', '9 undefined', '10 undefined'], 'kinds of lists have names of their own');
  assert.deepStrictEqual(
    await audit([...MGMT, 'ip prefix-list P seq 5 permit 10.0.0.0/8', 'route-map A permit 10', ' match ip address MGMT STAFF',
      'route-map A permit 20',
      ' match ip address prefix-list P Q', 'route-map B permit 10', ' match ip address GUESTS VISITORS']),
    ['5 undefined', '7 undefined', '9 undefined'], 'one of several names is enough');
  assert.deepStrictEqual(
    await audit([...MGMT, ' remark ip access-group GONE in', 'interface Vlan1', ' description ip access-group GONE in',
      ' no ip access-group GONE in']),
    [], 'words in remarks refer to nothing');

  assert.deepStrictEqual(
    await audit([...MGMT, '!', 'interface Vlan1', ' ip address 10.1.1.1 255.255.255.0', ' ip access-group MGMT in', '!',
      'line vty 5 15', ' transport input telnet'], '\r\n'),
    ['8 vty-no-filter', '8 vty-no-timeout', '8 vty-telnet'], 'line ends of another system');
  assert.deepStrictEqual(
    await audit(['line vty 0 4', ' access-class X in', ' transport input telnet', 'interface Vlan1',
      ' ip address 10.1.1.1 255.0.0.0', 'interface Vlan2',
      ' ip address 10.1.1.1 255.0.0.0', ' ip access-group Y in']),
    ['1 vty-no-timeout', '1 vty-telnet', '2 undefined', '7 address-twice', '8 undefined'], 'issues come by line and code');
};
