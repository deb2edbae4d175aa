// SPDX-License-Identifier: Apache-2.0
/**
 * releaseUntilSettled repeats the removal of what a device plugin has left until nothing of it is only waiting to be certainly free, for
 * `config-daemon cleanup`.
 * Usage: `const error = await releaseUntilSettled(() => left.release(host, signal), { timing, signal, print, staying });`
 */
import { freeNow, settlingMs } from "../afxdp/left-programs/free-since.ts";
import type { LeftProgramsState } from "../afxdp/left-programs/left-programs.ts";
import type { StepTiming } from "../steps/step-context.ts";

export interface ReleaseUntilSettledOptions {
  readonly timing: StepTiming;
  readonly signal: AbortSignal;
  /** Prints something that was released, as `released` names it. */
  readonly print: (released: string) => void;
  /** The beginning of a sentence about something that stays: "the XDP program of Switchyard stays on". */
  readonly staying: string;
}

/** Resolves with an error in one line; "" if nothing stays. Rejects as `release`. */
export async function releaseUntilSettled(
  release: () => Promise<LeftProgramsState>,
  { timing, signal, print, staying }: ReleaseUntilSettledOptions,
): Promise<string> {
  for (;;) {
    const { released, kept, problems } = await release();
    for (const each of released) print(each);
    if (kept.some(({ why }) => why === freeNow)) {
      await timing.sleep(settlingMs, signal);
      signal.throwIfAborted();
      continue;
    }
    if (problems.length > 0) return problems.join("; ");
    return kept.map(({ name, why }) => `${staying} ${name}: ${why}`).join("; ");
  }
}
