// SPDX-License-Identifier: Apache-2.0
/** ovsSource makes a controller reconcile when the bridges of Switchyard, or the connection to Open vSwitch, change. */
import type { Ovs } from "@switchyard/host";
import type { Source } from "@switchyard/kube";

export function ovsSource(ovs: Ovs, key: string): Source {
  return {
    start(enqueue) {
      const stop = new AbortController();
      const follow = async (): Promise<void> => {
        for await (const _event of ovs.watch(stop.signal)) enqueue(key);
      };
      void follow().catch(() => undefined); // it never ends by itself; a fake kernel in another process can
      return () => {
        stop.abort();
      };
    },
    whenSynced: () => Promise.resolve(),
  };
}
