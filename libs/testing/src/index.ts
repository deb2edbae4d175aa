// SPDX-License-Identifier: Apache-2.0
export { isWrite, type AuditEvent } from "./audit-log.ts";
export type { BinaryName } from "./binary-cache.ts";
export { bpfmanCrds, bpfmanTypes, type BpfmanVersion } from "./bpfman-crds.ts";
export { createAuthority, type Authority, type KeyPair, type UserIdentity } from "./certificates.ts";
export { ControlPlane, type ControlPlaneOptions } from "./control-plane.ts";
export type { Client } from "./control-plane-files.ts";
export {
  debianPackages,
  ensurePrograms,
  missingPrograms,
  type EnsureProgramsOptions,
  type ProgramName,
} from "./debian-programs.ts";
export { binariesFor, ensureBinaries, type EnsureBinariesOptions } from "./ensure-binaries.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export { withFileLock, type FileLockOptions } from "./file-lock.ts";
export { findFreePorts } from "./free-ports.ts";
export { downloadGoModule } from "./go-module.ts";
export { spawnGuarded, type GuardedProcess } from "./guarded-process.ts";
export type { KubectlOptions } from "./kubectl.ts";
export { type OpenVswitchPrograms } from "./open-vswitch/ensure-open-vswitch.ts";
export { startOpenVswitch, type OpenVswitch, type OpenVswitchOptions } from "./open-vswitch/open-vswitch.ts";
export { fleetObjects, type FleetOptions } from "./fleet-objects.ts";
export { missingForPods, podCommand, type PodAccount } from "./pod-process.ts";
export { writeToStderr, type WriteLine } from "./progress.ts";
export { startControlPlane } from "./start-control-plane.ts";
export { startTestProxy, type TestProxy, type TestTunnel } from "./test-proxy.ts";
export { TestingError, type TestingErrorCode } from "./testing-error.ts";
export { findWorkspaceRoot } from "./workspace-root.ts";
