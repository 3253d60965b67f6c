# Writes OUTPUT: VERSION and a checksum of HEADERS as the macro SOFT_WING_STAMP.
set(sum)
foreach(header ${HEADERS})
  file(SHA256 ${header} one)
  string(APPEND sum ${one})
endforeach()
string(SHA256 sum "${sum}")
string(SUBSTRING ${sum} 0 12 sum)
file(WRITE ${OUTPUT} "#define SOFT_WING_STAMP \"${VERSION} ${sum}\"\n")
