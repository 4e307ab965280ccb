/** A line longer than this is no progress message of a Docker engine. In characters. */
const MAX_LINE = 1 << 20;

/** The JSON objects of a stream of lines, one by one as they come in. Blank lines are skipped; rejects on anything else that is no object. */
export async function* jsonLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const [first = '', ...lines] = (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })).split('\n');
    // What has no line end yet is not looked through again with each chunk.
    rest += first;
    const next = lines.pop();
    if (next !== undefined) {
      lines.unshift(rest);
      rest = next;
    }
    if (rest.length > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} characters in a stream of JSON`);
    for (const line of lines) if (line.trim() !== '') yield parseObject(line);
  }
  rest += decoder.decode();
  if (rest.trim() !== '') yield parseObject(rest);
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Error(`not JSON: ${line.slice(0, 200)}`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`not a JSON object: ${line.slice(0, 200)}`);
  return Object.fromEntries(Object.entries(value));
}
