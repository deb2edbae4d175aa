// SPDX-License-Identifier: Apache-2.0
/**
 * What others may use of eve-bridge: its doctor, for the `switchyard` command line.
 * Usage: `import { formatReport, runDoctor } from "@switchyard/eve-bridge"`.
 */
export { formatReport, runDoctor, type DoctorReport, type Finding } from "./tool/doctor.ts";
