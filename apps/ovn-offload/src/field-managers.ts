// SPDX-License-Identifier: Apache-2.0
/** fieldManagers lists the field managers of ovn-offload. They must not change between releases. */
export const fieldManagers = {
  /** For labels of nodes, policies and MachineConfigs. */
  objects: "switchyard-ovn-offload",
  /** For the status of the SriovOperatorConfig. */
  status: "switchyard-ovn-offload-status",
} as const;
