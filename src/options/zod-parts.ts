// The parts of zod that options need: whole, it is four times as big.
export { array, boolean, enum, NEVER, number, record, strictObject, string, unknown } from 'zod';
export type { ZodType } from 'zod';
