// SPDX-License-Identifier: Apache-2.0
/**
 * createLinkLoss decides when the status shows that PFs have lost their link. Many losses last for seconds: a driver resets
 * its card, a switch restarts a port, a cable moves. A status in which nothing else is new waits, and is not written at all
 * if the link returns. Everything else is written at once, and a loss with it.
 */
import { defined, type InterfaceStatus, type SriovNetworkNodeStateStatus } from "@switchyard/api";
import { systemClock, type Clock } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";

export interface LinkLoss extends Disposable {
  /** Reports whether `status` must not be written yet. `before` is the status that was written last: the same object each time. */
  mustWait(before: SriovNetworkNodeStateStatus | undefined, status: SriovNetworkNodeStateStatus): boolean;
}

export interface LinkLossDeps {
  /** Starts the pass that observes the links again when the wait is over. */
  readonly wake: () => void;
  readonly clock?: Clock;
}

/** Autonegotiation takes 2 to 4 s on copper, and training up to 5 s on fast ports. */
const waitMs = 6_000;

export function createLinkLoss({ wake, clock = systemClock }: LinkLossDeps): LinkLoss {
  let waiting: { readonly before: SriovNetworkNodeStateStatus; isOver: boolean } | undefined;
  let cancel = (): void => undefined;

  return {
    mustWait(before, status) {
      if (before === undefined || !isOnlyLoss(before, status)) {
        cancel();
        waiting = undefined;
        return false;
      }
      if (waiting?.before !== before) {
        const started = { before, isOver: false };
        waiting = started;
        cancel();
        cancel = clock.after(waitMs, () => {
          started.isOver = true;
          wake();
        });
      }
      return !waiting.isOver;
    },
    [Symbol.dispose]() {
      cancel();
    },
  };
}

/** Reports whether PFs have lost their link, and nothing else differs. */
function isOnlyLoss(before: SriovNetworkNodeStateStatus, after: SriovNetworkNodeStateStatus): boolean {
  const speeds = new Map((before.interfaces ?? []).map(({ pciAddress, linkSpeed }) => [pciAddress, linkSpeed]));
  const interfaces = (after.interfaces ?? []).map(({ linkSpeed, ...pf }): InterfaceStatus => ({
    ...pf,
    ...defined({ linkSpeed: linkSpeed ?? speeds.get(pf.pciAddress) }),
  }));
  return !isDeepStrictEqual(after, before) && isDeepStrictEqual({ ...after, interfaces }, before);
}
