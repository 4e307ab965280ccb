/** A line through the values that are known: where one is not, it breaks off. */
export function linePath(values: readonly (number | null)[], x: (index: number) => number, y: (value: number) => number): string {
  let isDown = false;
  const steps: string[] = [];
  for (const [index, value] of values.entries()) {
    if (value !== null) steps.push(`${isDown ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
    isDown = value !== null;
  }
  return steps.join('');
}

/** The top of an axis that has room for these: a round number. */
export function roundTop(values: readonly (number | null)[], least: number): number {
  const most = Math.max(least, ...values.map((value) => value ?? 0));
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((each) => each * power >= most) ?? 10) * power;
}
