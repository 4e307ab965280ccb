import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConf, parseConfList } from '../../../../src/engines/cni/network-list.ts';

test('a .conf is a list of one', () => {
  const { name, cniVersion, plugins } = parseConf(
    '{"cniVersion":"0.3.1","name":"net","type":"bridge","capabilities":{"a":true,"b":false}}',
  );
  assert.deepEqual({ name, cniVersion }, { name: 'net', cniVersion: '0.3.1' });
  assert.deepEqual(
    plugins.map(({ type, capabilities }) => ({ type, capabilities })),
    [{ type: 'bridge', capabilities: ['a'] }],
  );
});

describe('what is wrong with a list is said', () => {
  for (const [text, why] of [
    ['{', /^Error: error parsing configuration list: /],
    ['[]', /: it is no object$/],
    ['{"plugins":[{"type":"a"}]}', /: no name$/],
    ['{"name":7,"plugins":[{"type":"a"}]}', /: name is no string$/],
    ['{"name":"../x","plugins":[{"type":"a"}]}', /: invalid characters found in network name: "\.\.\/x"$/],
    ['{"name":"n","cniVersion":1,"plugins":[{"type":"a"}]}', /: cniVersion is no string$/],
    ['{"name":"n"}', /: no 'plugins' key$/],
    ['{"name":"n","plugins":{}}', /: 'plugins' is no list$/],
    ['{"name":"n","plugins":[]}', /: no plugins in list$/],
    ['{"name":"n","plugins":[{"type":"a"},{}]}', /^Error: failed to parse plugin config 1: error parsing configuration: missing 'type'$/],
    ['{"name":"n","plugins":[{"type":"../a"}]}', /: invalid plugin name: \.\.\/a$/],
  ] as const) {
    test(text, () =>
      assert.throws(
        () => parseConfList(text),
        (error) => why.test(String(error)),
      ),
    );
  }

  test('and with a list in a .conf', () => {
    assert.throws(() => parseConf('{"name":"n","plugins":[{"type":"a"}]}'), /no 'type'; perhaps this is a \.conflist\?/);
  });
});
