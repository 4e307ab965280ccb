import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConnectionRoom, peerOf } from '../../../src/server/connection-room.ts';
import { serverLimits } from '../../../src/server/server-limits.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

class Connection {
  readonly name: string;
  isOpen = true;
  constructor(name: string) {
    this.name = name;
  }
  destroy(): void {
    this.isOpen = false;
  }
}

const roomOf = (over: Partial<ConstructorParameters<typeof ConnectionRoom<Connection>>[0]> = {}) => {
  const clock = new FakeClock();
  const room = new ConnectionRoom<Connection>({ strangers: 3, guests: 2, strangerMs: 60_000, clock, onCrowded: () => {}, ...over });
  const enter = (name: string, peer: string): Connection => {
    const connection = new Connection(name);
    room.enter(connection, peer);
    return connection;
  };
  return { clock, room, enter };
};

describe('where too many strangers are connected,', () => {
  test('the oldest of the peer that has the most gives way', () => {
    const { room, enter } = roomOf();
    const all = [enter('a1', 'a'), enter('b1', 'b'), enter('b2', 'b'), enter('c1', 'c')];
    assert.deepEqual(
      all.filter(({ isOpen }) => isOpen).map(({ name }) => name),
      ['a1', 'b2', 'c1'],
    );
    assert.equal(room.strangerCount, 3);
  });

  test('a flood of 20,000 from one peer closes none of another', () => {
    const { room, enter } = roomOf({ strangers: 1_000 });
    const mine = enter('mine', 'me');
    const flood = Array.from({ length: 20_000 }, (_, n) => enter(`f${n}`, 'flood'));
    assert.equal(mine.isOpen, true);
    assert.equal(flood.filter(({ isOpen }) => isOpen).length, 999);
    assert.equal(room.strangerCount, 1_000);
  });

  test('a flood from as many peers as there is room for closes the oldest', () => {
    const { enter } = roomOf({ strangers: 100 });
    const all = Array.from({ length: 300 }, (_, n) => enter(`f${n}`, `peer${n}`));
    assert.deepEqual(
      all.map(({ isOpen }) => isOpen),
      all.map((_, n) => n >= 200),
    );
  });

  test('who was let in stays', () => {
    const { room, enter } = roomOf();
    const guest = enter('guest', 'flood');
    room.letIn(guest);
    for (let n = 0; n < 100; n++) enter(`f${n}`, 'flood');
    assert.equal(guest.isOpen, true);
    assert.deepEqual([room.guestCount, room.strangerCount], [1, 3]);
  });
});

test('guests beyond the limit stay strangers', () => {
  const { room, enter } = roomOf();
  for (const name of ['a', 'b', 'c']) room.letIn(enter(name, name));
  assert.deepEqual([room.guestCount, room.strangerCount], [2, 1]);
});

test('a client that was let in 20,000 times keeps nobody from elsewhere out, and nobody who has fewer gives way to one who has more', () => {
  const { room, enter } = roomOf({ strangers: 1_000, guests: 100 });
  const greedy = Array.from({ length: 20_000 }, (_, n) => enter(`g${n}`, 'greedy'));
  for (const each of greedy) room.letIn(each);
  const mine = Array.from({ length: 60 }, (_, n) => {
    const connection = enter(`m${n}`, 'me');
    room.letIn(connection);
    return connection;
  });
  assert.deepEqual([room.guestCount, room.strangerCount], [100, 910]);
  // Without room they would be closed as strangers, in time.
  for (let n = 0; n < 2_000; n++) enter(`s${n}`, 'greedy');
  const isGuest = (connection: Connection): boolean => {
    const before = room.guestCount;
    room.leave(connection);
    return room.guestCount < before;
  };
  assert.equal(mine.filter(isGuest).length, 50);
});

test('a connection on which nothing is let in is closed in time; one that was let in is not; no timer is left', async () => {
  const { clock, room, enter } = roomOf();
  const [stranger, guest] = [enter('stranger', 'a'), enter('guest', 'a')];
  room.letIn(guest);
  await clock.advance(59_999);
  assert.equal(stranger.isOpen, true);
  await clock.advance(1);
  assert.deepEqual([stranger.isOpen, guest.isOpen], [false, true]);
  room.leave(stranger);
  room.leave(guest);
  assert.deepEqual([room.guestCount, room.strangerCount, clock.actions.length], [0, 0, 0]);
});

describe('one peer is', () => {
  for (const [address, peer] of [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, ''],
  ] as const) {
    test(`${address}: ${peer}`, () => assert.equal(peerOf(address), peer));
  }
});

test('of few files that may be open, most are left for the rest; of many, no more are taken than are of use', () => {
  assert.deepEqual(serverLimits(150), { strangers: 18, guests: 37, unasked: 9, forwarded: 18 });
  assert.deepEqual(serverLimits(Number.POSITIVE_INFINITY), { strangers: 1_024, guests: 4_096, unasked: 512, forwarded: 4_096 });
});
