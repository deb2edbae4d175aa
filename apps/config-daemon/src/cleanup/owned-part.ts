// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";

/** Something on a host that `config-daemon cleanup` removes. */
export interface OwnedPart {
  /** Describes each action that remove() would take: "remove /etc/sriov-operator/reboot.json". Rejects with HostError. */
  find(host: Host): Promise<readonly string[]>;
  /** Can be repeated. Rejects with HostError. */
  remove(host: Host): Promise<void>;
}
