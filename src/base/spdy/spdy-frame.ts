/** Frames of SPDY/3.1: eight bytes of head, then up to 2^24-1 bytes. */
export const FRAME_HEAD_BYTES = 8;
export const SPDY_VERSION = 3;

export const FrameType = {
  SYN_STREAM: 1,
  SYN_REPLY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  HEADERS: 8,
  WINDOW_UPDATE: 9,
} as const;
export type FrameType = (typeof FrameType)[keyof typeof FrameType];

export const FLAG_FIN = 1;

export const ResetStatus = { PROTOCOL_ERROR: 1, INVALID_STREAM: 2, REFUSED_STREAM: 3, CANCEL: 5 } as const;
export type ResetStatus = (typeof ResetStatus)[keyof typeof ResetStatus];
export const GoAwayStatus = { OK: 0, PROTOCOL_ERROR: 1 } as const;
export type GoAwayStatus = (typeof GoAwayStatus)[keyof typeof GoAwayStatus];

export type SpdyFrame =
  /** A piece of a data frame; `fin` on the last piece alone. */
  | { readonly kind: 'data'; readonly streamId: number; readonly bytes: Buffer; readonly fin: boolean }
  /** A whole control frame, known to this version or not. */
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly body: Buffer };

/** The head of a data frame of `length` bytes. */
export function dataFrameHead(streamId: number, length: number, fin: boolean): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32BE(streamId & 0x7fffffff, 0);
  head.writeUInt32BE(length, 4);
  head[4] = fin ? FLAG_FIN : 0;
  return head;
}

export function controlFrame(type: FrameType, flags: number, ...body: readonly Buffer[]): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt16BE(0x8000 | SPDY_VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(
    body.reduce((sum, part) => sum + part.length, 0),
    4,
  );
  head[4] = flags;
  return Buffer.concat([head, ...body]);
}

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
};

export const synReplyFrame = (streamId: number, headerBlock: Buffer): Buffer =>
  controlFrame(FrameType.SYN_REPLY, 0, words(streamId), headerBlock);
/** Streams that a client opens have no parent, and the highest priority. */
export const synStreamFrame = (streamId: number, headerBlock: Buffer, flags = 0): Buffer =>
  controlFrame(FrameType.SYN_STREAM, flags, words(streamId, 0), Buffer.alloc(2), headerBlock);
export const resetFrame = (streamId: number, status: ResetStatus): Buffer => controlFrame(FrameType.RST_STREAM, 0, words(streamId, status));
export const pingFrame = (id: number): Buffer => controlFrame(FrameType.PING, 0, words(id));
export const goAwayFrame = (lastStreamId: number, status: GoAwayStatus): Buffer =>
  controlFrame(FrameType.GOAWAY, 0, words(lastStreamId, status));
