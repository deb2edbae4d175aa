// SPDX-License-Identifier: Apache-2.0
/** The process of the lab: `node tools/vm-lab/src/main.ts VERB`, or `npm run vm -- VERB`. */
import { main } from "./cli.ts";

process.exitCode = await main(process.argv.slice(2));
