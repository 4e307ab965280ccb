import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { jsonLines } from '../../../../../src/engines/docker/client/json-lines.ts';
import { PullLedger, type PullMessage } from '../../../../../src/engines/docker/images/pull-ledger.ts';

const downloading = (id: string, current: number, total: number): PullMessage => ({
  status: 'Downloading',
  id,
  progressDetail: { current, total },
});

describe('PullLedger', () => {
  const cases: readonly {
    readonly name: string;
    readonly messages: readonly PullMessage[];
    readonly progress: readonly [done: number, layers: number, bytesDone: number, bytes: number];
  }[] = [
    {
      name: 'the tag of the first line is no layer',
      messages: [{ status: 'Pulling from library/busybox', id: '1.35' }],
      progress: [0, 0, 0, 0],
    },
    {
      name: 'layers are counted when they are announced',
      messages: [
        { status: 'Pulling fs layer', id: 'a', progressDetail: {} },
        { status: 'Waiting', id: 'b', progressDetail: {} },
      ],
      progress: [0, 2, 0, 0],
    },
    {
      name: 'bytes add up over layers',
      messages: [downloading('a', 10, 100), downloading('b', 5, 50), downloading('a', 20, 100)],
      progress: [0, 2, 25, 150],
    },
    {
      name: 'a layer that is downloaded has all its bytes, one that is extracted is done',
      messages: [
        downloading('a', 10, 100),
        { status: 'Download complete', id: 'a' },
        { status: 'Extracting', id: 'a', progressDetail: { current: 1, total: 100 } },
        downloading('b', 5, 50),
        { status: 'Verifying Checksum', id: 'b' },
        { status: 'Pull complete', id: 'a' },
      ],
      progress: [1, 2, 150, 150],
    },
    {
      name: 'a layer that the engine has is done without bytes',
      messages: [{ status: 'Already exists', id: 'a' }],
      progress: [1, 1, 0, 0],
    },
    {
      name: 'a size that the registry does not tell grows with what comes',
      messages: [downloading('a', 70, -1)],
      progress: [0, 1, 70, 70],
    },
    {
      name: 'a layer that is tried again starts over',
      messages: [downloading('a', 70, 100), { status: 'Retrying in 5 seconds', id: 'a' }],
      progress: [0, 1, 0, 100],
    },
    {
      name: 'a message without a status says nothing',
      messages: [{ aux: { ID: 'x' } }, { status: 'Digest: sha256:1' }],
      progress: [0, 0, 0, 0],
    },
  ];
  for (const { name, messages, progress } of cases) {
    test(name, () => {
      const ledger = new PullLedger();
      for (const message of messages) ledger.add(message);
      const { layersDone, layers, bytesDone, bytes } = ledger.progress;
      assert.deepEqual([layersDone, layers, bytesDone, bytes], progress);
    });
  }

  test('a message that moves nothing is told apart', () => {
    const ledger = new PullLedger();
    assert.equal(ledger.add(downloading('a', 1, 2)), true);
    assert.equal(ledger.add(downloading('a', 1, 2)), false);
    assert.equal(ledger.add({ status: 'Digest: sha256:1' }), false);
  });

  test('the latest message is kept in words', () => {
    const ledger = new PullLedger();
    assert.equal(ledger.latest, 'No progress');
    ledger.add(downloading('a', 1, 2));
    assert.equal(ledger.latest, 'a: Downloading 1/2');
    ledger.add({ status: 'Digest: sha256:1' });
    assert.equal(ledger.latest, 'Digest: sha256:1');
  });
});

describe('jsonLines', () => {
  const read = async (chunks: readonly (Buffer | string)[]): Promise<unknown[]> => {
    const source = async function* (): AsyncGenerator<Buffer | string> {
      yield* chunks;
    };
    const found: unknown[] = [];
    for await (const value of jsonLines(source())) found.push(value);
    return found;
  };

  test('lines may come in any pieces, even within a character', async () => {
    const bytes = Buffer.from('{"a":"é"}\r\n\r\n{"b":2}\n{"c":3}');
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
      assert.deepEqual(await read(chunks), [{ a: 'é' }, { b: 2 }, { c: 3 }]);
    }
  });

  test('what is no JSON object is quoted', async () => {
    await assert.rejects(read(['{"a":1}\n<html>\n']), { message: 'not JSON: <html>' });
    await assert.rejects(read(['[1]\n']), { message: 'not a JSON object: [1]' });
  });

  test('a line without end is refused', async () => {
    await assert.rejects(read(['x'.repeat((1 << 20) + 1)]), /more than 1048576 characters/);
  });
});
