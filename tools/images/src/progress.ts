// SPDX-License-Identifier: Apache-2.0
/** during prints a line to stderr at the start and the end of a step, and every five seconds in between. */

const everyMs = 5000;

export async function during<T>(what: string, act: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const seconds = () => ((performance.now() - startMs) / 1000).toFixed(1);
  const say = (text: string) => process.stderr.write(`[images] ${what}${text}\n`);
  say(" ...");
  const beat = setInterval(() => say(` ... ${seconds()} s`), everyMs);
  try {
    const result = await act();
    say(`: done in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(beat);
  }
}
