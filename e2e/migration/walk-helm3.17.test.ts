// SPDX-License-Identifier: Apache-2.0
/** There and back with the real Go operator and its real webhook, by Helm 3.17, the oldest that can go back. */
import { describeWalk } from "./describe-walk.ts";

describeWalk({
  installedBy: "helm3.17",
  version: "helm3.17",
  rollbackIsRefusedWith: /no ServiceAccount with the name "sriov-network-config-daemon" found/,
});
