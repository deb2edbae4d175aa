// SPDX-License-Identifier: Apache-2.0
/**
 * hostContractCases are tests that pass on a real kernel and on the fake kernel. Jest runs them on the fake kernel
 * (host-contract.test.ts), and Node runs them on igb, igbsw and virtio VFs in the VM lab (host-contract-main.ts).
 */
import { bootProgramCases, otherCases } from "./contract/other-cases.ts";
import { driverCases } from "./contract/driver-cases.ts";
import { eswitchCases } from "./contract/eswitch-cases.ts";
import { eventCases } from "./contract/event-cases.ts";
import { fileCases } from "./contract/file-cases.ts";
import { linuxBridgeCases } from "./contract/linux-bridge-cases.ts";
import { linkCases } from "./contract/link-cases.ts";
import { pluginLeftoverCases, xdpCases } from "./contract/xdp-cases.ts";
import { rdmaCases } from "./contract/rdma-cases.ts";
import { sriovCases } from "./contract/sriov-cases.ts";
import { subfunctionCases } from "./contract/subfunction-cases.ts";
import { vdpaCases } from "./contract/vdpa-cases.ts";
import { vfLinkCases } from "./contract/vf-link-cases.ts";
import { virtioCases } from "./contract/virtio-cases.ts";
import { systemdCases } from "./contract/systemd-cases.ts";
import type { ContractCase } from "./contract/world.ts";

/** Cases that need systemd, which a fast boot of the VM lab does not have. */
export { systemdCases };

/** Cases that need a virtio NIC with VFs. */
export { virtioCases };

export const hostContractCases: readonly ContractCase[] = [
  ...sriovCases,
  ...driverCases,
  ...linkCases,
  ...linuxBridgeCases,
  ...vfLinkCases,
  ...eswitchCases,
  ...subfunctionCases,
  ...xdpCases,
  ...pluginLeftoverCases,
  ...eventCases,
  ...fileCases,
  ...bootProgramCases,
  ...rdmaCases,
  ...vdpaCases,
  ...otherCases,
];
