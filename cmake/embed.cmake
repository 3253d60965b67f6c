# Writes one C++ source that holds every file below FOLDER: cmake -DFOLDER=web -DOUTPUT=page.cpp -P embed.cmake
set(types .html=text/html .css=text/css .js=text/javascript .svg=image/svg+xml .jpg=image/jpeg .png=image/png)

set(arrays "")
set(rows "")
set(index 0)
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
foreach(file ${files})
  get_filename_component(extension ${file} LAST_EXT)
  set(type "")
  foreach(pair ${types})
    if(pair MATCHES "^\\${extension}=(.*)$")
      set(type "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  if(type STREQUAL "")
    message(FATAL_ERROR "${file}: what is its content type? Add it to cmake/embed.cmake")
  endif()
  if(type MATCHES "^text/")
    set(type "${type}; charset=utf-8")
  endif()
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${index}[] = {${bytes}};\n")
  string(REGEX REPLACE "^index.html$" "" path "${file}")
  string(APPEND rows "      {\"/${path}\", \"${type}\", bytes_of(kFile${index})},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE ${OUTPUT} "#include \"serve/page.h\"

namespace soft {
namespace {

${arrays}
template <size_t size>
std::string_view bytes_of(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> kFiles{
${rows}  };
  return kFiles;
}

}  // namespace soft
")
