// SPDX-License-Identifier: Apache-2.0
export { isWrite, wrapPorts, type PortCall } from "../calls/wrap-ports.ts";
export { createManualClock, systemKernelClock, type KernelClock, type ManualClock } from "./clock.ts";
export type { DriverQuirks } from "./driver-quirks.ts";
export { connectFakeHost } from "./connect-fake-host.ts";
export type { ContractCase, ContractWorld } from "./contract/world.ts";
export { fakeGateway } from "./fake-connectivity.ts";
export type { FakeWrite } from "./fake-host.ts";
export { createFakeKernel, type FakeKernel, type FakeKernelOptions } from "./fake-kernel.ts";
export type { Fault, FaultEffect, FaultMatch } from "./faults.ts";
export { mstflintStandIn } from "./mstflint-stand-in.ts";
export {
  blueField,
  i40e,
  ice,
  igb,
  mlx5,
  mlx5Ib,
  pci,
  plainNic,
  virtioWithVfs,
  type BlueFieldOptions,
  type FakeNic,
  type FakePort,
  type FakeSriov,
  withQuirks,
} from "./nic-models.ts";
export { serveFakeKernel } from "./serve-fake-kernel.ts";
export {
  upstreamHelpers,
  upstreamRules,
  upstreamSystemdMode,
  upstreamUnitLinks,
  type FileText,
} from "./upstream-files.ts";
