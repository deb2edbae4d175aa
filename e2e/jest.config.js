// SPDX-License-Identifier: Apache-2.0
/** `npm run e2e`: what needs a virtual machine, network namespaces or minutes. `npm test` runs e2e/integration. */
import base from "../jest.config.js";

export default { ...base, testMatch: ["**/vm/**/*.test.ts", "**/faults/**/*.test.ts", "**/eve-bridge/**/*.test.ts"] };
