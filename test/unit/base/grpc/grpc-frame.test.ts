import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrpcFrames, grpcFrame } from '../../../../src/base/grpc/grpc-frame.ts';

test('a message that comes byte by byte is put together as it comes: each piece that is kept costs a hundred times its byte', () => {
  const frames = new GrpcFrames(1 << 20);
  const source = grpcFrame(Buffer.alloc(20_000, 'x'));
  const push = (at: number): readonly Buffer[] => [...frames.push(source.subarray(at, at + 1))];
  for (let at = 0; at < source.length - 1; at++) assert.deepEqual(push(at), []);
  // What is still a piece of the source shows.
  source.fill('y', 0, source.length - 1);
  const [message] = push(source.length - 1);
  const kept = message?.toString().replaceAll('x', '').length ?? 0;
  assert.ok(message?.length === 20_000 && kept <= 2, `${kept}`);
});

test('messages are found however they are cut', () => {
  const texts = ['', 'a', 'b'.repeat(5_000), 'c'.repeat(17), ''];
  const all = Buffer.concat(texts.map((text) => grpcFrame(Buffer.from(text))));
  for (const size of [1, 2, 3, 5, 7, 100, 4_095, 4_096, 4_097, all.length]) {
    const frames = new GrpcFrames(10_000);
    const found: string[] = [];
    for (let at = 0; at < all.length; at += size) for (const each of frames.push(all.subarray(at, at + size))) found.push(each.toString());
    frames.end();
    assert.deepEqual(found, texts, `${size}`);
  }
});
