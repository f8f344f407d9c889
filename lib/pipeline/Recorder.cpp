// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/Recorder.h"

#include "lib/language/ModuleLoader.h"
#include "lib/support/AtomicFile.h"
#include "lib/support/Hash.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace nereid::pipeline {

Status recordKernel(const CompileInput &input, const std::string &text) {
  const char *folder = std::getenv("NEREID_RECORD_KERNELS");
  if (!folder || !*folder) {
    return Done{};
  }
  if (Status made = createFolders(folder); !made) {
    return made;
  }
  const nlohmann::json record = {{"path", language::absolutePath(input.path)},
                                 {"function", input.function},
                                 {"signature", input.signature},
                                 {"imports", input.importPaths},
                                 {"source", text}};
  const std::string content =
      record.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return writeFileAtomically(
      std::string(folder) + "/" + toHex(sha256(content)).substr(0, 16) + ".json", content);
}

} // namespace nereid::pipeline
